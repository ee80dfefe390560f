import Database from 'libsql'
import type { Counters } from 'perilune'
import { sqlite, sqliteEvents } from 'perilune/sqlite'
import { LOOKING_FOR_CALLS, type Place, type Step, type Use, type Work } from './use.ts'

/** Over a database of its own, which is past all faults. */
function open({ redis, name }: Place, options: { retention?: '1ms' } = {}): Counters {
  const database = new Database(':memory:')
  database.exec('CREATE TABLE items (id TEXT PRIMARY KEY, value INTEGER NOT NULL)')
  return redis.counters(name, { sink: sqlite(database, { table: 'items' }), settle: '0s', ...options })
}

/** Rows are past all faults, too: each is there once, however often a step is taken. */
function stepsOfRows({ redis, name }: Place): readonly Step[] {
  const database = new Database(':memory:')
  database.exec(`CREATE TABLE items (id TEXT PRIMARY KEY, value INTEGER NOT NULL);
    CREATE TABLE votes (id INTEGER PRIMARY KEY AUTOINCREMENT, item TEXT)`)
  const events = sqliteEvents(database, { table: 'votes', id: 'item', target: { table: 'items' } })
  const votes = redis.counters(name, { events })
  const vote = (id: number): unknown => database.exec(`INSERT OR IGNORE INTO votes VALUES (${id}, 'a')`)
  const flush = async (): Promise<void> => void (await votes.flush())
  // A note that is lost is no harm, and so nobody is told.
  const note = async (id: number): Promise<void> => {
    vote(id)
    await votes.note('a')
  }
  return [
    ['show-absent', 'refuses', () => votes.get('a')],
    ['note', 'serves', () => note(1)],
    ['show', 'refuses', flush],
    ['shown', 'serves', () => votes.get('a')],
    ['note', 'serves', () => note(2)],
    ['noted', 'refuses', flush],
    ['shown', 'serves', () => votes.get('a')],
    ['inspect-shown', 'serves', async () => (await votes.inspect()).noted],
    ['clear-shown', 'serves', async () => void (await votes.clear())],
    ['show-absent', 'refuses', () => votes.get('a')],
  ]
}

function steps(place: Place): readonly Step[] {
  const counters = open(place)
  return [
    ...stepsOfRows(place),
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
    work('an increment', [13, 80], (counters) => counters.increment(1)),
    work('a first increment', [15, 80], (counters) => counters.increment('new')),
    work('a value', [3, 20], (counters) => counters.get(1)),
    work('a picture', [6, 32], (counters) => counters.inspect()),
  ],
}
