// Clears of an instance whose answers are held.

import type { Perilune } from 'perilune'

export interface HeldClears {
  /** Resolves when the server has cleared. */
  readonly cleared: Promise<void>
  /** Lets the answer arrive. */
  release(): void
}

/** `sentAgain`: as when the server did not know the script. */
export function holdClears({ runtime: { runner } }: Perilune, sentAgain: boolean): HeldClears {
  let [isDone, release] = [(): void => undefined, (): void => undefined]
  const cleared = new Promise<void>((resolve) => (isDone = resolve))
  const released = new Promise<void>((resolve) => (release = resolve))
  const { run } = runner
  runner.run = async (operation, keys, args, trace) => {
    const answer = await run.call(runner, operation, keys, args, trace)
    if (!operation.script.name.endsWith('clear')) return answer as never
    if (sentAgain && trace !== undefined) trace.sentAgain = true
    isDone()
    await released
    return answer as never
  }
  return { cleared, release }
}
