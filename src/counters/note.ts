// Notes of one tick travel together, in one call per partition; those of one counter are sent as one sum.

import { note } from '../generated/counters.ts'
import type { BatchTerms } from '../runtime/calls/batcher.ts'
import { AmbiguousError, DriverError } from '../runtime/errors/errors.ts'
import type { Unit } from '../runtime/connection/unit.ts'
import type { Board } from './board.ts'
import { MAX_A_CALL, partitionFor } from './source.ts'
import { type CounterChange, inSums, spreadSum } from './sums.ts'
import type { CounterValue } from './value.ts'

const BATCHES: BatchTerms = {
  name: note.script.name,
  items: MAX_A_CALL,
  bytes: 1024 * 1024,
  underWay: 2,
  gathers: true,
  waiting: 100_000,
}

/** Returns the value shown after the note; null if none is shown, or Redis does not answer. */
export async function noteOne(board: Board, id: string, delta: number): Promise<CounterValue | null> {
  const partition = partitionFor(board, id)
  const batcher = board.runtime.batcher<CounterChange, CounterValue | null>(
    `${partition.prefix} note`,
    BATCHES,
    (items, by) => sendBatch(board, partition, items, by),
  )
  try {
    return await batcher.addOne({ id, delta, key: '' }, id.length)
  } catch (error) {
    // The event is in SQL, and will be shown when it is read from there.
    if (error instanceof DriverError || error instanceof AmbiguousError) return null
    throw error
  }
}

async function sendBatch(
  board: Board,
  partition: Unit,
  notes: readonly CounterChange[],
  by: number,
): Promise<(CounterValue | null)[]> {
  const sums = inSums(notes)
  const counters = sums.map(({ id, delta }) => ({ id, by: String(delta) }))
  // If it were sent again after a lost answer, the note would be shown twice until the next round.
  const { values } = await partition.run(note, { counters }, { by, runsOnce: true })
  // A value that is not shown here may be in another partition.
  if (values.includes(null)) await board.number.checkNowAndThen()
  const results: (CounterValue | null)[] = notes.map(() => null)
  for (const [at, sum] of sums.entries()) {
    const value = values[at] ?? null
    if (value !== null) spreadSum(notes, sum, value, (member, after) => (results[member] = after))
  }
  return results
}
