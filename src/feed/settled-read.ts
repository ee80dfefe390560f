// A call of `read`, before which delayed messages that are due have become visible.

import { type ReadAnswer, type ReadArguments, read, settle } from '../generated/feed.ts'
import type { Trace } from '../runtime/calls/runner.ts'
import type { Unit } from '../runtime/connection/unit.ts'

/** What is due is seen to by the next call. */
const AT_ONCE_MS = 1

/**
 * Sees once to what is due, and no more: what comes due meanwhile stands behind the page, and where much does, something always
 * is. Whoever waits looks again at once. However many calls that takes, they have one deadline.
 */
export async function settledRead(
  unit: Unit,
  wanted: ReadArguments,
  { signal }: Pick<Trace, 'signal'> = {},
): Promise<ReadAnswer> {
  const by = performance.now() + unit.runtime.runner.deadlineMs
  const answer = await unit.run(read, wanted, { by, signal })
  if (!answer.due) return answer
  await unit.run(settle, { channel: unit.channel, sharded: unit.sharded }, { by })
  const settled = await unit.run(read, wanted, { by, signal })
  return settled.due ? { ...settled, recheckMs: AT_ONCE_MS } : settled
}
