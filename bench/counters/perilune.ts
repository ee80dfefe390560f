// Our counters as they are shipped: compiled, a library on a connection of its own.

import { Redis } from 'ioredis'
import type { Flushing } from '../../src/counters/flush-loop.ts'
import { builtLibrary } from '../harness/built.ts'
import {
  type Contender,
  DELTA,
  DELTA_ALONE,
  DERIVED,
  DERIVED_ALONE,
  DERIVED_ASIDE,
  DERIVED_EACH_SECOND,
  EVERY_MS,
  type Stage,
  type Voting,
} from './contender.ts'

/** What both modes have. */
interface Counting {
  clear(): Promise<unknown>
  getMany(items: readonly number[]): Promise<unknown>
  flush(): Promise<unknown>
  flushEvery(every: `${number}ms`, options: { onError: (error: unknown) => void }): Flushing
}

type Count = (item: number) => Promise<unknown>

export const derived: Contender = toContender(
  DERIVED,
  `INSERT the vote, note it; rolled up each ${EVERY_MS} ms; 5,000 rows a transaction, as by default`,
  { open: openDerived, countsRows: true, flushes: true },
)

export const derivedAside: Contender = toContender(
  DERIVED_ASIDE,
  'as Perilune events, but the voter is answered once the row is there, and what is shown follows a moment later',
  { open: openDerived, countsRows: true, flushes: true, isAnsweredFirst: true },
)

export const derivedAlone: Contender = toContender(
  DERIVED_ALONE,
  'as Perilune events, rolled up after the round',
  {
    open: openDerived,
    countsRows: true,
    flushes: false,
  },
)

/** As the documentation has it. */
export const derivedEachSecond: Contender = toContender(
  DERIVED_EACH_SECOND,
  'as Perilune events, rolled up each second, as our documentation has it',
  { open: openDerived, countsRows: true, flushes: true, everyMs: 1000, on: ['MariaDB'] },
)

export const delta: Contender = toContender(
  DELTA,
  `INSERT the vote, increment; flushed each ${EVERY_MS} ms; fsyncGrace 0s, for this Redis keeps nothing on disk`,
  { open: openDelta, flushes: true },
)

export const deltaAlone: Contender = toContender(DELTA_ALONE, 'as Perilune sink, flushed after the round', {
  open: openDelta,
  flushes: false,
})

export const onlyCounts: Contender = toContender(
  `${DELTA}, no INSERT`,
  'a vote is no row, it is only counted',
  {
    open: openDelta,
    flushes: true,
    withoutRows: true,
  },
)

interface Ways extends Pick<Contender, 'on' | 'countsRows' | 'everyMs'> {
  readonly open: (stage: Stage) => Promise<Opened>
  readonly flushes: boolean
  readonly withoutRows?: boolean
  readonly isAnsweredFirst?: boolean
}

interface Opened {
  readonly counters: Counting
  readonly count: Count
  close(): Promise<void>
}

function toContender(name: string, settings: string, ways: Ways): Contender {
  const { open, flushes, withoutRows = false, isAnsweredFirst = false, ...more } = ways
  return {
    name,
    settings,
    ...more,
    async open(stage): Promise<Voting> {
      const { counters, count, close } = await open(stage)
      const { database, votes } = stage
      const insert = `INSERT INTO ${votes} (voter, item) VALUES (?, ?)`
      const vote = async (voter: number, item: number): Promise<void> => {
        await database.run(insert, [voter, item])
        const counted = count(item)
        if (!isAnsweredFirst) await counted
      }
      return {
        ...inBackground(counters, flushes ? (more.everyMs ?? EVERY_MS) : null),
        vote: withoutRows ? (_, item) => count(item) : vote,
        withoutRows,
        close,
      }
    },
  }
}

function inBackground(
  counters: Counting,
  everyMs: number | null,
): Required<Pick<Voting, 'begin' | 'settle'>> {
  let flushing: Flushing | undefined
  const errors: unknown[] = []
  return {
    async begin(items) {
      await counters.clear()
      await counters.flush() // or the first round would wait for the one that was cleared
      await counters.getMany(items)
      if (everyMs === null) return
      flushing = counters.flushEvery(`${everyMs}ms`, { onError: (error) => errors.push(error) })
    },
    async settle() {
      await flushing?.close()
      await counters.flush()
      if (errors.length > 0) throw errors[0]
    },
  }
}

async function openDerived(stage: Stage): Promise<Opened> {
  const { library, close } = await openLibrary(stage)
  const target = { table: stage.items, value: 'votes' }
  const events = await stage.database.events({ table: stage.votes, id: 'item', target })
  const counters = library.counters(stage.name, { events })
  await counters.prepare()
  return { counters, count: (item) => counters.optimisticAdd(item), close }
}

async function openDelta(stage: Stage): Promise<Opened> {
  const { library, close } = await openLibrary(stage)
  const sink = await stage.database.sink({ table: stage.items, value: 'votes' })
  await sink.prepare()
  const counters = library.counters(stage.name, { sink, fsyncGrace: '0s' })
  return { counters, count: (item) => counters.increment(item), close }
}

async function openLibrary({ redisPort }: Stage) {
  const { perilune, ioredis } = await builtLibrary()
  const client = new Redis(redisPort)
  const library = perilune(ioredis(client), { namespace: 'bench' })
  const close = async (): Promise<void> => {
    await library.close()
    client.disconnect()
  }
  return { library, close }
}
