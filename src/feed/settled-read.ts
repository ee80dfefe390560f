// A call of `read`, before which delayed messages that are due have become visible.

import { type ReadAnswer, type ReadArguments, read, settle } from '../generated/feed.ts'
import type { Trace } from '../runtime/runner.ts'
import type { Unit } from '../runtime/unit.ts'

/** What is due is seen to by the next call. */
const AT_ONCE_MS = 1

/**
 * Sees once to what is due, and no more: what comes due meanwhile stands behind the page, and where much does, something always
 * is. Whoever waits looks again at once.
 */
export async function settledRead(unit: Unit, wanted: ReadArguments, trace?: Trace): Promise<ReadAnswer> {
  const answer = await unit.run(read, wanted, { ...trace })
  if (!answer.due) return answer
  await unit.run(settle, { channel: unit.channel, sharded: unit.sharded })
  const settled = await unit.run(read, wanted, { ...trace })
  return settled.due ? { ...settled, recheckMs: AT_ONCE_MS } : settled
}
