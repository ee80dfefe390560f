import type { Counters } from 'perilune'
import { pause } from '../../../src/runtime/time/in-time.ts'
import { setTestClock } from '../../../src/testing/test-clock.ts'
import { openCounters, openRows, type Rows } from './counters-places.ts'
import { LOOKING_FOR_CALLS, type Place, type Work } from './use.ts'

type Bounds = readonly [commands: number, elements: number]

const HOUR_MS = 3_600_000
/** How many more elements a page of HSCAN may have than another. */
const PAGES = 100
const THOUSAND = 1000

/** Moves the clock of the one partition so far from the server's. */
function moveClock({ driver, namespace, name }: Place, ms: number): Promise<void> {
  return setTestClock(driver, `${namespace}:{counters:${name}:0}`, (Date.now() + ms) * 1000)
}

/** Does something with the ids from 0, a thousand at a time. */
async function inThousands(size: number, step: (ids: number[]) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < size; from += THOUSAND) {
    await step(Array.from({ length: Math.min(THOUSAND, size - from) }, (_, at) => from + at))
  }
}

/** A call on counters of which so many wait for the database. */
function work(what: string, [commands, elements]: Bounds, call: (counters: Counters) => unknown): Work {
  const prepare: Work['prepare'] = async (place, size) => {
    const counters = openCounters(place)
    await inThousands(size, (ids) => counters.incrementMany(ids.map((id) => ({ id }))))
    return async () => call(counters)
  }
  return { what, commands, elements, chance: LOOKING_FOR_CALLS, prepare }
}

/** A batch settles, and so many wait, those of the batch too. */
const sealedWork: Work = {
  what: 'a picture while a batch is sealed',
  commands: 9,
  elements: 3040,
  prepare: async (place, size) => {
    const counters = openCounters(place, '1s')
    const count = (): Promise<void> =>
      inThousands(size, (ids) => counters.incrementMany(ids.map((id) => ({ id }))))
    await count()
    const aborter = new AbortController()
    const flush = counters.flush({ signal: aborter.signal }).catch(() => undefined)
    while ((await counters.inspect()).partitions[0]?.batch === null) await pause(5)
    aborter.abort()
    await flush
    await count()
    return () => counters.inspect()
  },
}

/** None of so many waits for the database any more, and all may go. */
const dueWork: Work = {
  what: 'a flush where many values are due',
  commands: 14,
  elements: 3100,
  prepare: async (place, size) => {
    const counters = openCounters(place)
    await moveClock(place, 0)
    await inThousands(size, (ids) => counters.incrementMany(ids.map((id) => ({ id }))))
    await counters.flush()
    await counters.increment('one more')
    await moveClock(place, 2 * HOUR_MS)
    return () => counters.flush()
  },
}

export const countersWorks: readonly Work[] = [
  work('an increment', [13, 80], (counters) => counters.increment(1)),
  work('a first increment', [15, 80], (counters) => counters.increment('new')),
  work('a value', [3, 22], (counters) => counters.get(1)),
  work('a picture', [7, 36], (counters) => counters.inspect()),
  work('a flush', [2020, 10_100], (counters) => counters.flush()),
  sealedWork,
  dueWork,
]

type Fill = (rows: Rows, size: number) => Promise<unknown>

/** So many counters are shown, of rows that were counted long ago. */
const shown: Fill = async ({ database, votes }, size) => {
  database.exec(`INSERT INTO items (id, value) WITH RECURSIVE ids (id) AS (
    SELECT 0 UNION ALL SELECT id + 1 FROM ids WHERE id < ${size - 1}) SELECT id, 1 FROM ids`)
  await inThousands(size, (ids) => votes.getMany(ids))
}

/** And noted, so that the next rounds read them again. */
const noted: Fill = async (rows, size) => {
  await shown(rows, size)
  await inThousands(size, (ids) => Promise.all(ids.map((id) => rows.votes.optimisticAdd(id))))
}

/** And one more increment was counted and is not shown yet. */
const missed: Fill = async (rows, size) => {
  await shown(rows, size)
  rows.database.exec("INSERT INTO votes (item) VALUES ('7')")
  await rows.events.rollUp({ counters: rows.sqlName, ids: [], limit: THOUSAND, recount: false })
  rows.database.exec("INSERT INTO votes (item) VALUES ('8')")
}

/** A call on counters of rows. */
function ofRows(
  what: string,
  [commands, elements]: Bounds,
  fill: Fill,
  call: (rows: Rows) => unknown,
  laterMs = 0,
): Work {
  const prepare: Work['prepare'] = async (place, size) => {
    const rows = openRows(place)
    await moveClock(place, 0)
    await fill(rows, size)
    await moveClock(place, laterMs)
    return async () => call(rows)
  }
  return { what, commands, elements, prepare }
}

export const shownWorks: readonly Work[] = [
  ofRows('a note', [6, 33], noted, ({ votes }) => votes.optimisticAdd('7')),
  ofRows('a note of what is not shown', [5, 28], noted, ({ votes }) => votes.optimisticAdd('new')),
  ofRows('a first note', [10, 45], shown, ({ votes }) => votes.optimisticAdd('7')),
  ofRows('a value that is shown', [2, 16], noted, ({ votes }) => votes.get('7')),
  ofRows('a value that is not shown', [10, 60], noted, ({ votes }) => votes.get('new')),
  {
    ...ofRows('a round of what is noted', [6020, 27_100], noted, ({ votes }) => votes.flush()),
    chance: PAGES,
  },
  ofRows('a round where many values are due', [8, 3050], shown, ({ votes }) => votes.flush(), 2 * HOUR_MS),
  ofRows('a round after one that was not shown', [12, 72], missed, ({ votes }) => votes.flush()),
  ofRows('a picture of what is shown', [3, 18], noted, ({ votes }) => votes.inspect()),
  ofRows('clearing what is shown', [2, 19], noted, ({ votes }) => votes.clear()),
]
