// How long a process believed that it held something, by the lease's own word.

import { setTimeout as sleep } from 'node:timers/promises'
import { nowUs } from '../clock.ts'
import type { Recorder } from '../recorder.ts'

const LOOK_MS = 4

export interface Held {
  readonly token: number
  /** Throws once it is lost. */
  assertHeld(): void
}

/** Holds it for so long, or until it is lost; writes down from when until when it certainly believed that it had it. */
export async function hold(recorder: Recorder, key: string, held: Held, ms: number): Promise<boolean> {
  const fromUs = nowUs()
  if (!says(held)) return false
  let untilUs = fromUs
  let isHeld = true
  while (isHeld && nowUs() < fromUs + ms * 1000) {
    await sleep(LOOK_MS)
    const at = nowUs()
    isHeld = says(held)
    if (isHeld) untilUs = at
  }
  recorder.saw('held', key, { token: held.token, fromUs, untilUs, isHeld })
  return isHeld
}

function says(held: Held): boolean {
  try {
    held.assertHeld()
    return true
  } catch {
    return false
  }
}
