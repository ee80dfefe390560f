// A random history of counters of all modes and a database in a file: workers that die at any step, backups that are put back, a
// copy that takes over, rows that are NULL, come late, vanish, or are refused, and two schemas with a table each. Whatever was
// acknowledged is in the database once, is kept as refused, or went with a database that came back older: nothing else may be missing.

import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import {
  type Counters,
  type DerivedCounters,
  type Perilune,
  type Loss,
  RefusedError,
  SinkError,
} from 'perilune'
import { sqlite, sqliteEvents } from 'perilune/sqlite'
import type { Applied, AppliedInPart, Batch, Sink } from '../../src/counters/sink.ts'
import type { EventSource, RolledUp, RollUp } from '../../src/counters/count-source.ts'
import { seeded } from '../soak/random.ts'

const IDS = ['1', '2', '3', '4', '5']
const STEPS = 40
const TABLES = `CREATE TABLE items (id INTEGER PRIMARY KEY, votes INTEGER CHECK (votes > -5));
  CREATE TABLE sums (id INTEGER PRIMARY KEY, votes INTEGER CHECK (votes > -5));
  CREATE TABLE votes (id INTEGER PRIMARY KEY AUTOINCREMENT, item INTEGER, points INTEGER NOT NULL);
  CREATE TABLE arrived (batch TEXT PRIMARY KEY);`

type Death = 'before' | 'after' | null

/** Sums by id. */
type Book = Map<string, bigint>

export class SqlHistory {
  readonly #random: () => number
  readonly #folder = mkdtempSync(join(tmpdir(), 'perilune-history-'))
  readonly #redis: Perilune
  readonly #name: string
  readonly #missing: 'create' | 'refuse'
  readonly #story: string[] = []
  readonly #losses: Loss[] = []
  /** What was acknowledged and is not known to have gone with a database. */
  readonly #counted: Book = new Map()
  /** What each batch brought, by its id. */
  readonly #batches = new Map<string, Batch>()
  readonly #others: Database.Database[] = []
  #database: Database.Database
  #copies = 0
  #backup: string | null = null
  #death: Death = null

  constructor(redis: Perilune, name: string, seed: number) {
    this.#random = seeded(seed)
    this.#redis = redis
    this.#name = name
    this.#missing = this.#random() < 0.5 ? 'create' : 'refuse'
    this.#database = new Database(join(this.#folder, '0.db'))
    this.#database.exec(TABLES)
    if (this.#missing === 'refuse')
      this.#database.exec('INSERT INTO items (id) VALUES (1), (2); INSERT INTO sums VALUES (1, 0)')
  }

  /** What is wrong once all rest. */
  async play(): Promise<{ faults: string[]; story: string[] }> {
    const faults: string[] = []
    try {
      for (let step = 0; step < STEPS; step++) await this.#step()
      await this.#rest()
      faults.push(...(await this.#faults()))
    } catch (error) {
      faults.push(`it threw ${String(error)}`)
    }
    await Promise.all([this.#counters().clear(), this.#derived().clear()])
    this.#close()
    rmSync(this.#folder, { recursive: true })
    return { faults, story: this.#story }
  }

  async #step(): Promise<void> {
    const steps: [weight: number, step: () => Promise<void> | void][] = [
      [12, () => this.#increment()],
      [6, () => this.#vote()],
      [5, () => this.#flush()],
      [3, () => this.#flushAndDie()],
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
            `INSERT INTO ${this.#pick(['items', 'sums'])} (id) VALUES (${this.#id()}) ON CONFLICT DO NOTHING`,
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

  #vote(): void {
    const [id, points] = [this.#id(), Math.floor(this.#random() * 9) - 3]
    this.#run(`vote for ${id}`, `INSERT INTO votes (item, points) VALUES (${id}, ${points})`)
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

  async #read(): Promise<void> {
    const [values, shown] = await Promise.all([this.#counters().getMany(IDS), this.#derived().getMany(IDS)])
    this.#story.push(`read ${String(values)}; ${String(shown)}`)
  }

  #run(what: string, sql: string): void {
    this.#database.exec(sql)
    this.#story.push(what)
  }

  /** A row that goes takes its count with it. */
  #vanish(): void {
    const id = this.#id()
    const gone = this.#database.prepare('SELECT votes FROM items WHERE id = ?').get(id) as
      | { votes: number | null }
      | undefined
    if (gone === undefined) return
    this.#run(`the row ${id} goes`, `DELETE FROM items WHERE id = ${id}`)
    add(this.#counted, id, -BigInt(gone.votes ?? 0))
  }

  #makeBackup(): void {
    this.#close()
    this.#backup = join(this.#folder, 'backup.db')
    copyFileSync(join(this.#folder, `${this.#copies}.db`), this.#backup)
    this.#open()
    this.#story.push('a backup is made')
  }

  /** What is in the database and not in the backup goes with it, but for a batch that Redis still has. */
  async #restore(): Promise<void> {
    if (this.#backup === null) return
    const [before, was] = [this.#held(), this.#batchesIn()]
    const { partitions } = await this.#counters().inspect()
    this.#close()
    this.#copies += 1
    copyFileSync(this.#backup, join(this.#folder, `${this.#copies}.db`))
    this.#open()
    const [after, is] = [this.#held(), this.#batchesIn()]
    for (const id of IDS) add(this.#counted, id, (after.get(id) ?? 0n) - (before.get(id) ?? 0n))
    const sealed = partitions[0]?.batch?.id ?? ''
    if (was.has(sealed) && !is.has(sealed)) {
      for (const { id, delta } of this.#batches.get(sealed)?.changes ?? []) add(this.#counted, id, delta)
    }
    this.#story.push('the backup is put back')
  }

  /** The newest batches that the ledger has. */
  #batchesIn(): Set<string> {
    if (!this.#has('perilune_ledger')) return new Set()
    const rows = this.#database.prepare('SELECT batch FROM perilune_ledger').all() as { batch: string }[]
    return new Set(rows.map(({ batch }) => batch))
  }

  #has(table: string): boolean {
    return this.#database.prepare('SELECT 1 FROM sqlite_master WHERE name = ?').all(table).length > 0
  }

  #open(): void {
    this.#database = new Database(join(this.#folder, `${this.#copies}.db`))
  }

  #close(): void {
    for (const other of this.#others.splice(0)) other.close()
    this.#database.close()
  }

  /** A process begins in the schema of the table, or in another one. */
  #connect(table: string): { database: Database.Database; table: string } {
    if (this.#random() < 0.5) return { database: this.#database, table }
    const other = new Database(':memory:')
    this.#others.push(other)
    other.exec(`ATTACH '${join(this.#folder, `${this.#copies}.db`)}' AS shop`)
    return { database: other, table: `shop.${table}` }
  }

  /** What the database has of each counter, in its row or kept. */
  #held(table = 'items', counters = this.#name): Book {
    const book: Book = new Map()
    const rows = this.#database.prepare(`SELECT id, votes FROM ${table}`).all() as {
      id: number
      votes: number | null
    }[]
    for (const { id, votes } of rows) add(book, String(id), BigInt(votes ?? 0))
    if (!this.#has('perilune_refused')) return book
    const refused = this.#database
      .prepare('SELECT id, delta FROM perilune_refused WHERE counters LIKE ?')
      .all(`%:${counters}`) as { id: string; delta: string }[]
    for (const { id, delta } of refused) add(book, id, BigInt(delta))
    return book
  }

  async #rest(): Promise<void> {
    this.#story.push('all rest')
    for (let round = 0; round < 3; round++) await this.#flush()
  }

  async #faults(): Promise<string[]> {
    const counters = this.#counters()
    const votes = new Map(
      (
        this.#database.prepare('SELECT item, SUM(points) AS sum FROM votes GROUP BY item').all() as {
          item: number
          sum: number
        }[]
      ).map(({ item, sum }) => [String(item), BigInt(sum)] as const),
    )
    const { dirty } = await counters.inspect()
    const { waiting, noted } = await this.#derived().inspect()
    return [
      ...differences('counters', this.#held(), this.#counted),
      ...differences('votes', this.#held('sums', `${this.#name}-rows`), votes),
      ...(await this.#shown()),
      ...(dirty + waiting + noted === 0
        ? []
        : [`something is stuck: ${dirty} dirty, ${waiting} rows, ${noted} notes`]),
      ...(this.#losses.length === 0
        ? []
        : [`losses were told though Redis lost nothing: ${JSON.stringify(this.#losses)}`]),
    ]
  }

  /** What is read of each is what the database has. */
  async #shown(): Promise<string[]> {
    const shown = async (what: string, of: Counters | DerivedCounters, table: string, name: string) => {
      await of.reconcile(IDS).catch((error: unknown) => this.#allow(error, 'sink-refused'))
      const [values, held] = [await of.getMany(IDS), this.#held(table, name)]
      const book: Book = new Map(IDS.map((id, at) => [id, BigInt(values[at] ?? 0)]))
      const there = this.#database.prepare(`SELECT id FROM ${table}`).all() as { id: number }[]
      const rows = new Set(there.map(({ id }) => String(id)))
      // Where no row is made, one that is gone is unknown, or as it was until its time in Redis is over.
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

  /** As a process that has just started. */
  #counters(): Counters {
    const { database, table } = this.#connect('items')
    const own = sqlite(database, { table, value: 'votes', missing: this.#missing })
    const toDatabase = own.apply.bind(own)
    const apply = async (batch: Batch): Promise<Applied | AppliedInPart> => {
      this.#batches.set(batch.batch, batch)
      return this.#dying(() => toDatabase(batch))
    }
    const sink: Sink = Object.assign(own, { apply })
    return this.#redis.counters(this.#name, {
      sink,
      settleFor: '0s',
      onLoss: (loss) => this.#losses.push(loss),
    })
  }

  #derived(): DerivedCounters {
    const { database, table } = this.#connect('sums')
    const target = { table, value: 'votes', missing: this.#missing }
    const events = table.replace('sums', 'votes')
    const own = sqliteEvents(database, { table: events, id: 'item', amount: 'points', target })
    const inDatabase = own.rollUp.bind(own)
    const rollUp = async (asked: RollUp): Promise<RolledUp> => this.#dying(() => inDatabase(asked))
    const source: EventSource = Object.assign(own, { rollUp })
    return this.#redis.counters(`${this.#name}-rows`, { events: source })
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

function add(book: Book, id: string, by: bigint): void {
  book.set(id, (book.get(id) ?? 0n) + by)
}

function differences(what: string, found: Book, expected: Book): string[] {
  return IDS.flatMap((id) => {
    const [is, ought] = [found.get(id) ?? 0n, expected.get(id) ?? 0n]
    return is === ought ? [] : [`${what}: ${id} is ${is} and ought to be ${ought}`]
  })
}
