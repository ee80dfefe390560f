import Database from 'libsql'
import type { Counters } from 'perilune'
import { sqlite } from 'perilune/sqlite'
import type { Place, Step, Use, Work } from './use.ts'

/** Over a database of its own, which is past all faults. */
function open({ redis, name }: Place, options: { retention?: '1ms' } = {}): Counters {
  const database = new Database(':memory:')
  database.exec('CREATE TABLE items (id TEXT PRIMARY KEY, value INTEGER NOT NULL)')
  return redis.counters(name, { sink: sqlite(database, { table: 'items' }), settle: '0s', ...options })
}

function steps(place: Place): readonly Step[] {
  const counters = open(place)
  return [
    ['begin', 'refuses', () => counters.increment('a', 5)],
    ['load', 'refuses', () => counters.increment('b')],
    ['increment', 'refuses', () => counters.increment('a', 2)],
    ['increment', 'refuses', () => counters.increment('a', 1, { idempotencyKey: 'k' })],
    ['increment', 'refuses', () => counters.increment('a', 1, { idempotencyKey: 'k' })],
    ['inspect', 'serves', async () => (await counters.inspect()).dirty],
    ['get', 'serves', () => counters.getMany(['a', 'b'])],
    ['seal', 'refuses', () => counters.flush()],
    ['increment', 'refuses', () => counters.increment('b')],
    ['ack', 'refuses', () => counters.flush()],
    ['inspect', 'serves', async () => (await counters.inspect()).dirty],
    // Whether there was something to forget, a repetition cannot know.
    ['clear', 'serves', async () => void (await counters.clear())],
    ['load', 'refuses', () => counters.increment('a')],
  ]
}

/** A write looks now and then for calls to be forgotten: how many calls have passed before it is up to chance. */
const LOOKING_FOR_CALLS = 16

/** What is there makes no call cost more. */
function work(
  what: string,
  [commands, elements]: [number, number],
  call: (counters: Counters) => Promise<unknown>,
): Work {
  const prepare: Work['prepare'] = async (place, size) => {
    const counters = open(place)
    for (let at = 0; at < size; at += 1000) {
      await counters.incrementMany(Array.from({ length: 1000 }, (_, n) => ({ id: at + n })))
    }
    return () => call(counters)
  }
  return { what, commands, elements, chance: LOOKING_FOR_CALLS, prepare }
}

export const use: Use = {
  steps,
  works: [
    work('an increment', [12, 60], (counters) => counters.increment(1)),
    work('a first increment', [14, 60], (counters) => counters.increment('new')),
    work('a value', [3, 20], (counters) => counters.get(1)),
    work('a picture', [6, 32], (counters) => counters.inspect()),
  ],
}
