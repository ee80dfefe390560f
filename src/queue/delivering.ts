// What could not be brought to another queue is brought later, also where nobody claims any more who would be told of it. One
// handle of each queue of an instance tries again, with longer and longer pauses, until all is there.

import { Backoff } from '../runtime/backoff.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { startTimer } from '../runtime/timer.ts'
import { deliver } from './outbox.ts'
import type { Source } from './source.ts'

const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 60_000

/** The queues, or partitions of these, whose outboxes are looked at again. */
const again = new WeakMap<Runtime, Set<string>>()

/** As `deliver`; what it throws is not the end of it. */
export async function deliverInTheEnd(source: Source): Promise<void> {
  try {
    await deliver(source)
  } catch (error) {
    deliverLater(source)
    throw error
  }
}

function deliverLater(source: Source): void {
  const { runtime, prefix } = source.unit
  const those = again.get(runtime) ?? new Set()
  again.set(runtime, those)
  if (those.has(prefix)) return
  those.add(prefix)
  void keepDelivering(source).finally(() => those.delete(prefix))
}

async function keepDelivering(source: Source): Promise<void> {
  const { runner } = source.unit.runtime
  const backoff = new Backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS)
  while (!runner.closed) {
    // It keeps no process alive: another one may bring it.
    await new Promise<void>((resolve) => startTimer(resolve, backoff.next()).unref())
    const isBrought = await deliver(source).then(
      () => true,
      () => false,
    )
    if (isBrought) return
  }
}
