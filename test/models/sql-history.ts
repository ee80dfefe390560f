// A random history of counters of all modes and a database: workers that die at any step and connections that are lost,
// backups that are put back, a copy that takes over or lags, rows that are NULL, come late, vanish, or are refused, and
// two schemas with a table each. Whatever was acknowledged is in the database once, is kept as refused, or went with a
// database that came back older: nothing else may be missing.

import { setTimeout as sleep } from 'node:timers/promises'
import { type Counters, type RowCounters, type Loss, type Perilune, RefusedError, SinkError } from 'perilune'
import type { EventSource, RolledUp, RollUp } from '../../src/counters/count-source.ts'
import type { Applied, AppliedInPart, Batch, LedgerPlace, Sink, Snapshot } from '../../src/counters/sink.ts'
import { seeded } from '../soak/random.ts'
import type { World } from './sql-worlds.ts'

const IDS = ['1', '2', '3', '4', '5']
const STEPS = 40
/** Processes that live on where the database does. */
const MOST_PROCESSES = 3
const MOST_STATEMENTS = 9

type Death = 'before' | 'after' | null

/** Sums by id. */
type Book = Map<string, bigint>

export class SqlHistory {
  readonly #random: () => number
  readonly #world: World
  readonly #redis: Perilune
  readonly #name: string
  readonly #missing: 'create' | 'refuse'
  readonly #story: string[] = []
  readonly #losses: Loss[] = []
  /** Acknowledged increments that are not known to have been lost with a database. */
  readonly #counted: Book = new Map()
  /** The content of each batch, by its id. */
  readonly #batches = new Map<string, Batch>()
  /** Earlier reads of the same epoch and ids: the answer of a lagging copy. */
  readonly #before = new Map<string, Snapshot>()
  readonly #processes: { counters: Counters[]; derived: RowCounters[] } = { counters: [], derived: [] }
  #hasBackup = false
  #lags = 0
  #death: Death = null

  constructor(redis: Perilune, world: World, name: string, seed: number) {
    this.#random = seeded(seed)
    this.#world = world
    this.#redis = redis
    this.#name = name
    this.#missing = this.#random() < 0.5 ? 'create' : 'refuse'
  }

  /** The faults once all processes rest. */
  async play(): Promise<{ faults: string[]; story: string[] }> {
    const faults: string[] = []
    this.#story.push(`on ${this.#world.name}, missing: ${this.#missing}`)
    try {
      if (this.#missing === 'refuse') {
        await this.#world.run('INSERT INTO items (id) VALUES (1), (2)')
        await this.#world.run('INSERT INTO sums (id, votes) VALUES (1, 0)')
      }
      for (let step = 0; step < STEPS; step++) await this.#step()
      await this.#rest()
      faults.push(...(await this.#faults()))
    } catch (error) {
      faults.push(`it threw ${String(error)}`)
    }
    await Promise.all([this.#counters().clear(), this.#derived().clear()])
    return { faults, story: this.#story }
  }

  async #step(): Promise<void> {
    const steps: [weight: number, step: () => Promise<void> | void][] = [
      [12, () => this.#increment()],
      [6, () => this.#vote()],
      [5, () => this.#flush()],
      [3, () => this.#flushAndDie()],
      [2, () => this.#flushAndLose()],
      [2, () => this.#lag()],
      [3, () => this.#read()],
      [2, () => this.#makeBackup()],
      [1, () => this.#restore()],
      [
        2,
        () =>
          this.#run(
            'a count becomes NULL',
            `UPDATE items SET votes = NULL WHERE id = ${this.#id()} AND votes = 0`,
          ),
      ],
      [
        2,
        () =>
          this.#run(
            'a row comes',
            this.#world.name === 'mariadb'
              ? `INSERT IGNORE INTO ${this.#pick(['items', 'sums'])} (id) VALUES (${this.#id()})`
              : `INSERT INTO ${this.#pick(['items', 'sums'])} (id) VALUES (${this.#id()}) ON CONFLICT DO NOTHING`,
          ),
      ],
      [1, () => this.#vanish()],
    ]
    let at = this.#random() * steps.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, step] of steps) {
      at -= weight
      if (at < 0) return step()
    }
  }

  async #increment(): Promise<void> {
    const [id, by] = [this.#id(), Math.floor(this.#random() * 9) - 3]
    try {
      const value = await this.#counters().increment(id, by)
      add(this.#counted, id, BigInt(by))
      this.#story.push(`increment ${id} by ${by} → ${value}`)
    } catch (error) {
      this.#allow(error, 'unknown-counter')
      this.#story.push(`increment ${id} by ${by} is refused`)
    }
  }

  async #vote(): Promise<void> {
    const [id, points] = [this.#id(), Math.floor(this.#random() * 9) - 3]
    await this.#run(`vote for ${id}`, `INSERT INTO votes (item, points) VALUES (${id}, ${points})`)
  }

  async #flush(): Promise<void> {
    for (const flush of [() => this.#counters().flush(), () => this.#derived().flush()]) {
      try {
        await flush()
      } catch (error) {
        if (!(error instanceof RefusedError)) throw error
        this.#story.push(error.message)
      }
    }
    this.#story.push('flushed')
  }

  async #flushAndDie(): Promise<void> {
    this.#death = this.#random() < 0.5 ? 'before' : 'after'
    this.#story.push(`a flush dies ${this.#death} its commit`)
    const work = this.#random() < 0.5 ? () => this.#counters().flush() : () => this.#derived().flush()
    await work().catch((error: unknown) => this.#allow(error, 'sink-failed', 'sink-refused'))
    this.#death = null
  }

  /** The transaction is lost at one of its statements, and done again. */
  async #flushAndLose(): Promise<void> {
    this.#world.cutNext(1 + Math.floor(this.#random() * MOST_STATEMENTS))
    this.#story.push('a flush loses its connection')
    // An epoch that it was about to begin is begun by the next one.
    await this.#flush().catch((error: unknown) => this.#allow(error, 'sink-unreachable'))
    this.#world.cutNext(0)
  }

  /** Reads come from a copy that lags, and has caught up after some. */
  #lag(): void {
    this.#lags = 1 + Math.floor(this.#random() * 3)
    this.#story.push(`${this.#lags} reads lag`)
  }

  async #read(): Promise<void> {
    const [values, shown] = await Promise.all([this.#counters().getMany(IDS), this.#derived().getMany(IDS)])
    this.#story.push(`read ${String(values)}; ${String(shown)}`)
  }

  async #run(what: string, sql: string): Promise<void> {
    await this.#world.run(sql)
    this.#story.push(what)
  }

  /** A row that goes takes its count with it. */
  async #vanish(): Promise<void> {
    const id = this.#id()
    const [gone] = await this.#world.run(`SELECT votes FROM items WHERE id = ${id}`)
    if (gone === undefined) return
    await this.#run(`the row ${id} goes`, `DELETE FROM items WHERE id = ${id}`)
    add(this.#counted, id, -whole(gone['votes']))
  }

  async #makeBackup(): Promise<void> {
    await this.#world.backUp()
    this.#hasBackup = true
    this.#story.push('a backup is made')
  }

  /** Rows in the database and not in the backup are lost with it, except for a batch that Redis still has. */
  async #restore(): Promise<void> {
    if (!this.#hasBackup) return
    const [before, was] = [await this.#held(), await this.#batchesIn()]
    const { partitions } = await this.#counters().inspect()
    await this.#world.putBack()
    // A copy that lags behind this one knows nothing of the lost time.
    this.#before.clear()
    const [after, is] = [await this.#held(), await this.#batchesIn()]
    for (const id of IDS) add(this.#counted, id, (after.get(id) ?? 0n) - (before.get(id) ?? 0n))
    const sealed = partitions[0]?.batch?.id ?? ''
    if (was.has(sealed) && !is.has(sealed)) {
      for (const { id, delta } of this.#batches.get(sealed)?.changes ?? []) add(this.#counted, id, delta)
    }
    this.#story.push('the backup is put back')
  }

  /** The newest batches that the ledger has. */
  async #batchesIn(): Promise<Set<string>> {
    if (!(await this.#world.has('perilune_ledger'))) return new Set()
    const rows = await this.#world.run('SELECT batch FROM perilune_ledger')
    return new Set(rows.map(({ batch }) => String(batch)))
  }

  /** The value of each counter in the database, in its row or kept. */
  async #held(table = 'items', counters = this.#name): Promise<Book> {
    const book: Book = new Map()
    for (const { id, votes } of await this.#world.run(`SELECT id, votes FROM ${table}`))
      add(book, String(id), whole(votes))
    if (!(await this.#world.has('perilune_refused'))) return book
    const kept = `SELECT id, delta FROM perilune_refused WHERE counters LIKE '%:${counters}'`
    for (const { id, delta } of await this.#world.run(kept)) add(book, String(id), whole(delta))
    return book
  }

  async #rest(): Promise<void> {
    this.#lags = 0
    this.#story.push('all rest')
    for (let round = 0; round < 3; round++) await this.#flush()
    // The server may not have noticed yet that a connection is closed, whose transaction delays roll-ups.
    for (let tries = 0; tries < 50 && (await this.#derived().inspect()).waiting > 0; tries++) {
      await sleep(20)
      await this.#flush()
    }
  }

  async #faults(): Promise<string[]> {
    const counters = this.#counters()
    const sums = await this.#world.run('SELECT item, SUM(points) AS sum FROM votes GROUP BY item')
    const votes: Book = new Map(sums.map(({ item, sum }) => [String(item), whole(sum)]))
    const { dirty } = await counters.inspect()
    const { waiting, noted } = await this.#derived().inspect()
    return [
      ...differences('counters', await this.#held(), this.#counted),
      ...differences('votes', await this.#held('sums', `${this.#name}-rows`), votes),
      ...(await this.#shown()),
      ...(dirty + waiting + noted === 0
        ? []
        : [`something is stuck: ${dirty} dirty, ${waiting} rows, ${noted} notes`]),
      ...(this.#losses.length === 0
        ? []
        : [`losses were reported though Redis lost nothing: ${JSON.stringify(this.#losses)}`]),
    ]
  }

  /** The values read are those of the database. */
  async #shown(): Promise<string[]> {
    const shown = async (what: string, of: Counters | RowCounters, table: string, name: string) => {
      await of.reconcile(IDS).catch((error: unknown) => this.#allow(error, 'sink-refused'))
      const [values, held] = [await of.getMany(IDS), await this.#held(table, name)]
      const book: Book = new Map(IDS.map((id, at) => [id, BigInt(values[at] ?? 0)]))
      const there = await this.#world.run(`SELECT id FROM ${table}`)
      const rows = new Set(there.map(({ id }) => String(id)))
      // When no row is created, a removed one is unknown, or unchanged until its time in Redis is over.
      const isOpen = (id: string): boolean => this.#missing === 'refuse' && !rows.has(id)
      return differences(what, book, new Map(IDS.map((id) => [id, (isOpen(id) ? book : held).get(id) ?? 0n])))
    }
    return [
      ...(await shown('shown counters', this.#counters(), 'items', this.#name)),
      ...(await shown('shown votes', this.#derived(), 'sums', `${this.#name}-rows`)),
    ]
  }

  #allow(error: unknown, ...codes: string[]): void {
    if (!codes.includes(String((error as { code?: unknown }).code))) throw error
  }

  #counters(): Counters {
    return this.#process(this.#processes.counters, (elsewhere) => {
      const own = this.#world.sink({ table: 'items', value: 'votes', missing: this.#missing }, elsewhere)
      const [toDatabase, fromDatabase] = [own.apply.bind(own), own.read.bind(own)]
      const apply = async (batch: Batch): Promise<Applied | AppliedInPart> => {
        this.#batches.set(batch.batch, batch)
        return this.#dying(() => toDatabase(batch))
      }
      const read = (place: LedgerPlace, ids: readonly string[]): Promise<Snapshot> =>
        this.#lagging(`${place.epoch} ${ids.join(' ')}`, () => fromDatabase(place, ids))
      const sink: Sink = Object.assign(own, { apply, read })
      const onLoss = (loss: Loss): void => void this.#losses.push(loss)
      return this.#redis.counters(this.#name, { sink, fsyncGrace: '0s', onLoss })
    })
  }

  #derived(): RowCounters {
    return this.#process(this.#processes.derived, (elsewhere) => {
      const target = { table: 'sums', value: 'votes', missing: this.#missing }
      const own = this.#world.events('votes', target, elsewhere)
      const inDatabase = own.rollUp.bind(own)
      const rollUp = async (asked: RollUp): Promise<RolledUp> => this.#dying(() => inDatabase(asked))
      const events: EventSource = Object.assign(own, { rollUp })
      return this.#redis.counters(`${this.#name}-rows`, { events })
    })
  }

  /** A process that has just started, or one that continues. */
  #process<Handle>(known: Handle[], start: (elsewhere: boolean) => Handle): Handle {
    const isOld = this.#world.isServer && known.length > 0 && this.#random() < 0.7
    if (isOld) return this.#pick(known)
    const handle = start(this.#random() < 0.5)
    if (known.length < MOST_PROCESSES) known.push(handle)
    return handle
  }

  async #lagging(what: string, read: () => Promise<Snapshot>): Promise<Snapshot> {
    const before = this.#before.get(what)
    if (before !== undefined && this.#lags > 0) {
      this.#lags -= 1
      return before
    }
    const snapshot = await read()
    this.#before.set(what, before ?? snapshot)
    return snapshot
  }

  async #dying<Result>(work: () => Promise<Result>): Promise<Result> {
    const death = this.#death
    if (death === 'before') throw new SinkError('sink-failed', 'the process dies')
    const result = await work()
    if (death === 'after') throw new SinkError('sink-failed', 'the process dies')
    return result
  }

  #id(): string {
    return this.#pick(IDS)
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.#random() * items.length)] as Item
  }
}

/** NULL is 0. */
function whole(value: unknown): bigint {
  return BigInt((value ?? 0) as bigint | number | string)
}

function add(book: Book, id: string, by: bigint): void {
  book.set(id, (book.get(id) ?? 0n) + by)
}

function differences(what: string, found: Book, expected: Book): string[] {
  return IDS.flatMap((id) => {
    const [is, ought] = [found.get(id) ?? 0n, expected.get(id) ?? 0n]
    return is === ought ? [] : [`${what}: ${id} is ${is} and ought to be ${ought}`]
  })
}
