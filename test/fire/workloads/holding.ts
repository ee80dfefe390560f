// How long a process believed that it held something, by the lease's own word.

import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import type { Lease } from 'perilune'
import { between, oneOf } from '../cell.ts'
import { nowUs } from '../clock.ts'
import type { Recorder } from '../recorder.ts'

const LOOK_MS = 4
/** One of so many leases is held past its end. */
const HOLDS_A_LONG_ONE = 10
const LONG_MS = [1700, 2300] as const
const OTHER_LEASES = ['700ms', '4s'] as const

export interface Held {
  readonly token: number
  /** Throws once it is lost. */
  assertHeld(): void
}

/** A lease whose signal reports its end. */
export interface Signalled {
  readonly token: number
  readonly signal: AbortSignal
}

/** Holds it for so long, or until it is lost; writes down from when until when it certainly believed that it had it. */
export async function hold(
  recorder: Recorder,
  key: string,
  held: Held | Signalled,
  ms: number,
): Promise<boolean> {
  const fromUs = nowUs()
  if (!says(held)) return false
  let untilUs = fromUs
  let isHeld = true
  while (isHeld && nowUs() < fromUs + ms * 1000) {
    await sleep(LOOK_MS)
    // A process that stalled learns of the end by a timer, which may run after this one.
    if ('signal' in held) await turn()
    const at = nowUs()
    isHeld = says(held)
    if (isHeld) untilUs = at
  }
  recorder.saw('held', key, { token: held.token, fromUs, untilUs, isHeld })
  return isHeld
}

/**
 * Holds a lease, and gives it back. Now and then longer than it lasts, also where it was extended to another length
 * meanwhile.
 */
export async function holdLease(
  { recorder, luck }: { recorder: Recorder; luck: () => number },
  key: string,
  lease: Lease,
): Promise<void> {
  const given = { token: lease.token }
  const isLong = between(luck, 1, HOLDS_A_LONG_ONE) === 1
  if (isLong && between(luck, 1, 2) === 1)
    await recorder.call({ what: 'extend', key, given }, () => lease.extend(oneOf(luck, OTHER_LEASES)))
  const held = { token: lease.token, assertHeld: () => lease.assertHeld() }
  await hold(recorder, key, held, isLong ? between(luck, ...LONG_MS) : between(luck, 5, 60))
  await recorder.call({ what: 'release', key, given }, () => lease.release())
}

function says(held: Held | Signalled): boolean {
  if ('signal' in held) return !held.signal.aborted
  try {
    held.assertHeld()
    return true
  } catch {
    return false
  }
}
