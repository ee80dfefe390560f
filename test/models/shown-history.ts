// A random history of counters whose counts are in SQL: votes, notes that are lost or wrong, rounds that overlap and
// die at every step, reads that take long, and a Redis that loses everything, some of it, or its newest part.

import { createHash } from 'node:crypto'
import type { Redis } from 'ioredis'
import Database from 'libsql'
import { type Board, openBoard } from '../../src/counters/board.ts'
import type { EventSource } from '../../src/counters/count-source.ts'
import { SinkError } from '../../src/counters/errors.ts'
import { readShown } from '../../src/counters/read-shown.ts'
import { noteOne } from '../../src/counters/note.ts'
import { runRounds } from '../../src/counters/rounds.ts'
import type { Driver, Script } from '../../src/driver.ts'
import { Runtime } from '../../src/runtime/connection/runtime.ts'
import { sqliteEvents } from '../../src/sinks/sqlite.ts'
import { readable } from '../readable-scripts.ts'
import { seeded } from '../soak/random.ts'

export type Rule =
  | 'no version is left out'
  | 'nothing is shown that was read too early'
  | 'what is noted of absent values stays noted'

/**
 * The replacement for a rule, to see that it is needed at rest. The other rules keep the shown values right until then,
 * and the vectors test them.
 */
const RULES: Readonly<Record<Rule, readonly [script: string, rule: string, instead: string]>> = {
  'no version is left out': ['counters/show', 'since ~= state.version', 'false'],
  'nothing is shown that was read too early': [
    'counters/show-absent',
    'version < state.version or version < state.showing',
    'false',
  ],
  'what is noted of absent values stays noted': [
    'counters/note',
    "redis.pcall('HINCRBY', keys.noted, id, by)",
    "local _ = redis.call('HEXISTS', keys.shown, id) == 0 and redis.pcall('HINCRBY', keys.noted, id, by)",
  ],
}

export interface Where {
  readonly client: Redis
  readonly driver: Driver
  readonly namespace: string
  readonly without: Rule | null
}

export interface Verdict {
  /** The faults at rest. */
  readonly faults: readonly string[]
  readonly story: readonly string[]
}

const COPY = `local copies = {}
for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
  copies[#copies + 1] = key
  copies[#copies + 1] = redis.call('DUMP', key)
end
return copies`
const REPLACE = `for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
  redis.call('DEL', key)
end
for at = 2, #ARGV, 2 do
  redis.call('RESTORE', ARGV[at], 0, ARGV[at + 1])
end`

const ITEMS = ['1', '2', '3']
const PARTITIONS = 2
const KILLED = 'killed'
const STEPS = 60

/** An operation that is held at a gate. */
interface Held {
  readonly what: string
  readonly done: Promise<unknown>
  /** On to the next gate, or to the end; with an error, that is the outcome of its step. */
  go(error?: Error): Promise<void>
}

export class History {
  readonly #where: Where
  readonly #random: () => number
  readonly #database = new Database(':memory:')
  readonly #source: EventSource
  readonly #story: string[] = []
  readonly #held: Held[] = []
  readonly #faulty: string[] = []
  /** Keys and what they hold, in turn. */
  #copies: Buffer[] = []
  #failsToShow = false

  constructor(where: Where, seed: number) {
    this.#where = where
    this.#random = seeded(seed)
    this.#database.exec(`CREATE TABLE items (id INTEGER PRIMARY KEY, votes INTEGER NOT NULL DEFAULT 0);
      CREATE TABLE votes (id INTEGER PRIMARY KEY AUTOINCREMENT, item INTEGER NOT NULL, points INTEGER NOT NULL)`)
    const target = { table: 'items', value: 'votes' }
    this.#source = sqliteEvents(this.#database, { table: 'votes', id: 'item', amount: 'points', target })
  }

  async play(): Promise<Verdict> {
    for (let step = 0; step < STEPS; step++) await this.#step()
    while (this.#held.length > 0) await this.#goOn(this.#random() < 0.5)
    await this.#rest()
    const faults = await this.#faults()
    await this.#empty()
    this.#database.close()
    return { faults, story: this.#story }
  }

  async #step(): Promise<void> {
    const steps: [weight: number, step: () => unknown][] = [
      [8, () => this.#vote(true)],
      [3, () => this.#vote(false)],
      [1, () => this.#noteWrongly()],
      [4, () => this.#get()],
      [5, () => this.#hold('round', (board) => runRounds(board, { ids: [], recount: false }))],
      [3, () => this.#hold('get', (board) => readShown(board, [this.#item()]))],
      [10, () => this.#goOn(true)],
      [2, () => this.#goOn(false)],
      [0.3, () => this.#empty()],
      [0.5, () => this.#lose()],
      [0.5, () => this.#copy()],
      [0.5, () => this.#restore()],
    ]
    let at = this.#random() * steps.reduce((sum, [weight]) => sum + weight, 0)
    const [, step] = steps.find(([weight]) => (at -= weight) < 0) ?? [0, () => undefined]
    await step()
  }

  async #vote(noted: boolean): Promise<void> {
    const [item, points] = [this.#item(), this.#random() < 0.8 ? 1 : -2]
    this.#tell(`${points} for ${item}${noted ? '' : ', not noted'}`)
    this.#database.prepare('INSERT INTO votes (item, points) VALUES (?, ?)').run(item, points)
    if (noted) await noteOne(this.#board(this.#source), item, points)
  }

  async #noteWrongly(): Promise<void> {
    const item = this.#item()
    this.#tell(`a wrong note of ${item}`)
    await noteOne(this.#board(this.#source), item, 7)
  }

  async #get(): Promise<void> {
    const item = this.#item()
    const [value] = await readShown(this.#board(this.#source), [item])
    this.#tell(`${item} is shown as ${String(value)}`)
  }

  /** Begins an operation that stops after its database step, and before it, if it is a round. */
  async #hold(what: string, work: (board: Board) => Promise<unknown>): Promise<void> {
    if (this.#held.length >= 3) return
    let [arrive, pass] = [(): void => undefined, (_error?: Error): void => undefined]
    let arrival = Promise.resolve()
    const expectGate = (): void => void (arrival = new Promise((resolve) => (arrive = resolve)))
    const gate = (): Promise<void> =>
      new Promise((resolve, reject) => {
        pass = (error) => (error === undefined ? resolve() : reject(error))
        arrive()
      })
    const source: EventSource = Object.assign(Object.create(this.#source) as EventSource, {
      rollUp: async (asked: Parameters<EventSource['rollUp']>[0]) => {
        await gate()
        const rolled = await this.#source.rollUp(asked)
        await gate()
        return rolled
      },
      read: async (counters: string, ids: readonly string[]) => {
        const counts = await this.#source.read(counters, ids)
        await gate()
        return counts
      },
    })
    expectGate()
    const ended = { is: false }
    const done = work(this.#board(source))
      .catch((error: unknown) => this.#end(what, error))
      .finally(() => (ended.is = true))
    const settle = async (): Promise<void> => {
      await Promise.race([arrival, done])
      if (ended.is) this.#held.splice(this.#held.indexOf(held), 1)
    }
    const go = async (error?: Error): Promise<void> => {
      expectGate()
      pass(error)
      await settle()
    }
    const held: Held = { what, done, go }
    this.#held.push(held)
    this.#tell(`a ${what} begins`)
    await settle()
  }

  #end(what: string, error: unknown): void {
    this.#tell(`a ${what} ends: ${String(error)}`)
    if (!String(error).endsWith(KILLED)) this.#faulty.push(String(error))
  }

  async #goOn(lives: boolean): Promise<void> {
    const held = this.#held[Math.floor(this.#random() * this.#held.length)]
    if (held === undefined) return
    this.#failsToShow = !lives && this.#random() < 0.5
    this.#tell(`a ${held.what} ${lives ? 'goes on' : 'dies'}${this.#failsToShow ? ' as it shows' : ''}`)
    const isOver = lives || this.#failsToShow
    await held.go(isOver ? undefined : new SinkError('sink-failed', KILLED))
    this.#failsToShow = false
  }

  async #empty(): Promise<void> {
    await this.#replace([])
    this.#tell('Redis is empty')
  }

  /** Notes are not lost: a lost note would leave a wrong value that goes unnoticed. */
  async #lose(): Promise<void> {
    const keys = (await this.#keys()).filter((key) => !key.endsWith(':noted'))
    const key = keys[Math.floor(this.#random() * keys.length)]
    if (key === undefined) return
    await this.#where.client.del(key)
    this.#tell(`Redis has lost ${key}`)
  }

  async #copy(): Promise<void> {
    this.#copies = (await this.#where.client.callBuffer('EVAL', COPY, 0, this.#pattern)) as Buffer[]
    this.#tell('Redis is copied')
  }

  async #restore(): Promise<void> {
    await this.#replace(this.#copies)
    this.#tell('Redis is the copy')
  }

  /** In one step: a call of a round that has died may still be on its way. */
  async #replace(copies: readonly Buffer[]): Promise<void> {
    await this.#where.client.call('EVAL', REPLACE, 0, this.#pattern, ...copies)
  }

  async #rest(): Promise<void> {
    this.#tell('all rest')
    for (let round = 0; round < 3; round++)
      await runRounds(this.#board(this.#source), { ids: [], recount: false })
  }

  async #faults(): Promise<string[]> {
    const board = this.#board(this.#source)
    const faults = [...this.#faulty]
    const shown = await readShown(board, ITEMS)
    for (const [at, item] of ITEMS.entries()) {
      const sum = this.#number('SELECT coalesce(SUM(points), 0) AS n FROM votes WHERE item = ?', item)
      const stored = this.#number('SELECT coalesce(MAX(votes), 0) AS n FROM items WHERE id = ?', item)
      if (stored !== sum) faults.push(`SQL has ${stored} of ${item}, whose rows are ${sum}`)
      if (shown[at] !== sum) faults.push(`${String(shown[at])} is shown of ${item}, whose rows are ${sum}`)
    }
    for (const key of await this.#keys()) if (key.endsWith(':noted')) faults.push(`${key} is left`)
    return faults
  }

  #number(sql: string, item: string): number {
    return Number((this.#database.prepare(sql).get(item) as { n: number }).n)
  }

  /** Each is a process of its own. */
  #board(source: EventSource): Board {
    const { namespace } = this.#where
    const runtime = new Runtime(this.#driver(), namespace, 60_000)
    const options = { partitions: PARTITIONS, batchSize: 3 }
    return { ...openBoard(runtime, 'votes', source, options), gapTries: 0 }
  }

  /** Runs scripts without the rule, and none that shows where the process is to die there. */
  #driver(): Driver {
    const { driver, without } = this.#where
    const dies = (name: string): boolean =>
      this.#failsToShow && name === 'counters/show' && this.#random() < 0.6
    const run: Driver['run'] = (call) => {
      if (dies(call.script.name)) return Promise.reject(new SinkError('sink-failed', KILLED))
      return driver.run({ ...call, script: withoutRule(call.script, without) })
    }
    return Object.assign(Object.create(driver) as Driver, { run, info: () => driver.info() })
  }

  #keys(): Promise<string[]> {
    return this.#where.client.keys(this.#pattern)
  }

  get #pattern(): string {
    return `${this.#where.namespace}:*`
  }

  #item(): string {
    return ITEMS[Math.floor(this.#random() * ITEMS.length)] as string
  }

  #tell(line: string): void {
    this.#story.push(line)
  }
}

function withoutRule(shipped: Script, without: Rule | null): Script {
  const rule = without === null ? undefined : RULES[without]
  if (rule === undefined || rule[0] !== shipped.name) return shipped
  const script = readable(shipped)
  const source = script.source.replace(rule[1], () => rule[2])
  if (source === script.source) throw new Error(`${script.name} has no ${rule[1]}`)
  return { ...script, source, sha1: createHash('sha1').update(source).digest('hex') }
}
