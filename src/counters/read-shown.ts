// Values as they are shown: from Redis, and from SQL if Redis lacks them. Concurrent reads of the same values share one
// query.

import { batchNameOf } from './batch-name.ts'
import { showAbsent, shown } from '../generated/counters.ts'
import type { BatchTerms } from '../runtime/calls/batcher.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { rest } from '../runtime/time/in-time.ts'
import type { Unit } from '../runtime/connection/unit.ts'
import { type Board, locationOf } from './board.ts'
import { elsewhere } from './place.ts'
import { sinkInTime } from './sink-calls.ts'
import { apartFromInvalid, byPartition, inPages, MAX_A_CALL } from './source.ts'
import { type CounterValue, toValue } from './value.ts'

type Filled = string | null | InvalidArgumentError

const BATCHES: BatchTerms = {
  name: 'a read of counters',
  items: MAX_A_CALL,
  bytes: 1024 * 1024,
  underWay: 1,
  waiting: 100_000,
}

const MOST_TRIES = 6
const FIRST_PAUSE_MS = 2

/**
 * In the order of the ids; null for those that SQL does not have. Throws SinkError, DriverError, InvalidArgumentError.
 */
export async function readShown(board: Board, ids: readonly string[]): Promise<(CounterValue | null)[]> {
  const found = new Map<string, string | null>()
  const asked = [...new Set(ids)].map((id) => ({ id }))
  const reads = [...byPartition(board, asked)].flatMap(([partition, all]) =>
    inPages(all.map(({ id }) => id)).map((page) => readPage(board, partition, page, found)),
  )
  await Promise.all(reads)
  return ids.map((id) => {
    const text = found.get(id) ?? null
    return text === null ? null : toValue(text)
  })
}

async function readPage(
  board: Board,
  partition: Unit,
  ids: readonly string[],
  found: Map<string, string | null>,
): Promise<void> {
  const { values } = await partition.run(shown, { ids })
  // A span without data would never end, and later reads would reuse this handle.
  const fillOne = (id: string): Promise<Filled> =>
    board.runtime
      .batcher<string, Filled>(batchNameOf(`${partition.prefix} fill`, board.counts), BATCHES, (items, by) =>
        apartFromInvalid(items, (some) => fill(board, partition, some, by)),
      )
      .addOne(id, id.length)
  await Promise.all(
    ids.map(async (id, at) => {
      const value = values[at] ?? (await fillOne(id))
      if (value instanceof InvalidArgumentError) throw value
      found.set(id, value)
    }),
  )
}

/** Shows values that are absent, and returns them. */
async function fill(
  board: Board,
  partition: Unit,
  ids: readonly string[],
  by: number,
): Promise<(string | null)[]> {
  const { counts, sqlName, retainMs, runtime, number } = board
  const { deadlines } = runtime.runner
  const place = await sinkInTime(locationOf(board), by, deadlines)
  // A value is in Redis only after a read that checked partition count and place: wrong ones are rejected here.
  await number.ensure(by)
  for (let tries = 1; ; tries++) {
    const before = await partition.run(shown, { ids })
    const { version, values } = await sinkInTime(counts.read(sqlName, ids), by, deadlines)
    const counters = ids.flatMap((id, at) => {
      const value = values.get(id)
      return value === undefined ? [] : [{ id, value: String(value), taken: before.noted[at] ?? '0' }]
    })
    const answer = await partition.run(showAbsent, { version, turn: before.turn, retainMs, place, counters })
    if (answer.status === 'elsewhere') throw elsewhere(board.name, answer.place, place)
    if (answer.status === 'shown') return inOrder(ids, counters, answer.values)
    // After the last attempt the read still lags: the database came back with an old copy, and the next round handles
    // that.
    if (tries === MOST_TRIES) return ids.map((id) => values.get(id)?.toString() ?? null)
    await rest(FIRST_PAUSE_MS * 2 ** tries, deadlines)
  }
}

function inOrder(
  ids: readonly string[],
  counters: readonly { readonly id: string }[],
  values: readonly string[],
): (string | null)[] {
  const found = new Map(counters.map(({ id }, at) => [id, values[at] as string]))
  return ids.map((id) => found.get(id) ?? null)
}
