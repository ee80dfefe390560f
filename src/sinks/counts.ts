// Counts of rows in SQL: the order of the statements, which is the same everywhere. Dialects word them, stores run them.
//
// A roll-up locks the line of the counters, so that one runs at a time, takes rows that none before it took, adds them to the
// counts and moves on: all in one transaction. What it tells is read behind that, and whoever reads without the lock sees
// line, counts and rows in one statement: a row is always in exactly one of the sums.

import type { Counts, CountSource, RolledUp, RollUp, Backlog } from '../counters/count-source.ts'
import type { Change } from '../counters/sink.ts'
import { columnOf, misconfigured, once, SqlAccess } from './access.ts'
import type { CountDialect, Events, EventsPlace, Standing, Taken } from './count-dialect.ts'
import {
  type FullTarget,
  type Place,
  type Row,
  type SqlRunner,
  type SqlStore,
  type Statement,
  type Target,
  wholeOf,
} from './dialect.ts'
import { checkFits, checkIdColumn, checkTarget, prepareTarget } from './target.ts'

interface Ready {
  readonly place: Place
  readonly events: EventsPlace
}

const MOST_READ = 1000
const MOST_WAITING = 10_000
const NOTHING: ReadonlyMap<string, bigint> = new Map()

export class SqlCounts implements CountSource {
  readonly name: string
  readonly missing: 'create' | 'refuse'
  protected readonly access: SqlAccess
  protected readonly ready: () => Promise<Ready>
  readonly #counting: CountDialect
  /** How far rows had been taken when this process saw it last. */
  readonly #hints = new Map<string, string>()

  /** Throws InvalidArgumentError. */
  constructor(store: SqlStore, counting: CountDialect, events: Events, target: Target, prefix: string) {
    const full = checkTarget(target, prefix)
    this.name = counting.dialect.name
    this.missing = full.missing
    this.access = new SqlAccess(store, counting.dialect)
    this.#counting = counting
    this.ready = once(() => this.#prepare(events, full))
  }

  async prepare(): Promise<void> {
    await this.ready()
  }

  async rollUp({ counters, ids, limit, recount, until }: RollUp): Promise<RolledUp> {
    const { place, events } = await this.ready()
    const fitting = (all: readonly string[]): string[] => all.filter((id) => this.#fits(place, id))
    const asked = fitting(ids)
    const idle = ids.length > 0 ? null : await this.#idle(events, counters)
    if (idle !== null) return idle
    return this.access.transaction(async (runner) => {
      const standing = await this.#lock(runner, counters)
      if (recount) await this.#recount(runner, { place, events }, standing, asked)
      const taken = await this.#take(runner, { place, events }, standing, limit, until)
      if (taken.events === 0 && ids.length === 0) return nothingSince(standing.version)
      const version = standing.version + 1
      await runner.changes(this.#counting.move({ counters, version, reached: taken.reached }))
      const all = [...new Set([...fitting(taken.changes.map(({ id }) => id)), ...asked])]
      const { values } = await this.#read(runner, { place, events }, counters, all)
      const { more } = taken
      return { version, since: standing.version, values, events: taken.events, more, until: taken.until }
    })
  }

  async read(counters: string, ids: readonly string[]): Promise<Counts> {
    const ready = await this.ready()
    for (const id of ids) checkFits(this.access, ready.place.table, ready.place.idColumn, id)
    const { version, values } = await this.#read(this.access, ready, counters, ids)
    return { version, values }
  }

  async waiting(counters: string): Promise<Backlog> {
    const { events } = await this.ready()
    const row = await this.#waiting(events, counters, MOST_WAITING)
    const age = row['age_ms'] ?? null
    return {
      rows: Number(row['waiting']),
      ageMs: age === null ? null : Math.max(0, Math.round(Number(age))),
    }
  }

  /** What there is to tell when no row waits; null: one does. */
  async #idle(events: EventsPlace, counters: string): Promise<RolledUp | null> {
    const { waiting, version } = await this.#waiting(events, counters, 1)
    return Number(waiting) === 0 ? nothingSince(Number(version ?? 0)) : null
  }

  async #waiting(events: EventsPlace, counters: string, most: number): Promise<Row> {
    for (;;) {
      const hint = await this.#hint(counters)
      const rows = await this.access.rows(this.#counting.waiting(events, counters, hint, most))
      if (this.#learn(counters, rows)) return rows[0] ?? {}
    }
  }

  async #lock(runner: SqlRunner, counters: string): Promise<Standing> {
    for (let isLocked = false; ; ) {
      const [row] = await runner.rows(this.#counting.lock(counters))
      const flaw = row?.['flaw']
      if (row === undefined) {
        await runner.changes(this.#counting.enter(counters))
      } else if (typeof flaw !== 'string') {
        return { counters, version: Number(row['version']), reached: String(row['reached']) }
      } else if (isLocked) {
        throw misconfigured(`${flaw}: ${counters}`)
      } else {
        // The statement may have begun before the one that it waited for: its snapshot is older than the row that it got.
        isLocked = true
      }
    }
  }

  async #take(
    runner: SqlRunner,
    { place, events }: Ready,
    at: Standing,
    limit: number,
    until: string | undefined,
  ): Promise<Taken> {
    const taken = await this.#counting.take(runner, events, at, limit, until)
    await this.#change(runner, place, taken.changes)
    return taken
  }

  /** Makes what was taken of some counters the sum of its rows. */
  async #recount(runner: SqlRunner, ready: Ready, at: Standing, ids: readonly string[]): Promise<void> {
    for (const page of inPages(ids)) {
      const asked = page.filter((id) => this.#fits(ready.events, id))
      const sums = await runner.rows(this.#counting.sums(ready.events, at, asked))
      const found = new Map(sums.map(({ id, sum }) => [String(id), BigInt(wholeOf(sum))]))
      const { stored } = await this.#read(runner, ready, at.counters, page)
      const changes = page.map((id) => ({ id, delta: (found.get(id) ?? 0n) - (stored.get(id) ?? 0n) }))
      await this.#change(
        runner,
        ready.place,
        changes.filter(({ delta }) => delta !== 0n),
      )
    }
  }

  /** Rows of an id that cannot be in the table are left out: they would stop all others. */
  async #change(runner: SqlRunner, place: Place, changes: readonly Change[]): Promise<void> {
    const fitting = changes.filter(({ id }) => this.#fits(place, id))
    if (fitting.length === 0) return
    for (const statement of this.#counting.dialect.change(place, fitting)) await runner.changes(statement)
  }

  /** `stored`: what the table of the counts has of `values`. */
  async #read(
    runner: Reader,
    { place, events }: Ready,
    counters: string,
    ids: readonly string[],
  ): Promise<Counts & { stored: Map<string, bigint> }> {
    const [values, stored] = [new Map<string, bigint>(), new Map<string, bigint>()]
    let version = 0
    for (const page of inPages(ids)) {
      for (;;) {
        const hint = await this.#hint(counters, runner)
        const rows = await runner.rows(this.#counting.values(place, events, counters, page, hint))
        if (!this.#learn(counters, rows)) continue
        version = Number(rows.find((row) => row['version'] !== null)?.['version'] ?? 0)
        addUp(this.missing, page, rows, values, stored)
        break
      }
    }
    return { version, values, stored }
  }

  /** Asked for once, for the first statement would look at every row without it. */
  async #hint(counters: string, runner: Reader = this.access): Promise<string> {
    const known = this.#hints.get(counters)
    if (known !== undefined) return known
    const [row] = await runner.rows(this.#counting.standing(counters))
    return wholeOf(row?.['reached'])
  }

  /** False when the hint was wrong, for the database has come back with an old copy. */
  #learn(counters: string, rows: readonly Row[]): boolean {
    const reached = wholeOf(rows.find((row) => row['reached'] !== null)?.['reached'])
    const known = this.#hints.get(counters) ?? '0'
    this.#hints.set(counters, reached)
    return BigInt(reached) >= BigInt(known)
  }

  #fits({ idColumn }: Place | EventsPlace, id: string): boolean {
    return this.#counting.dialect.misfit(id, idColumn) === undefined
  }

  async #prepare(events: Events, target: FullTarget): Promise<Ready> {
    await this.access.make('perilune_cursor', this.#counting.cursors)
    if (events.isShared) await this.access.make(events.table, this.#counting.outbox)
    const columns = await this.access.columnsOf(events.table)
    for (const name of [events.mark, events.key, events.at]) {
      if (name !== null && name !== '') columnOf(columns, events.table, name)
    }
    const amount = events.amount === null ? undefined : columnOf(columns, events.table, events.amount)
    if (amount !== undefined && !/int/i.test(amount.type)) {
      throw misconfigured(`the column ${amount.name} of ${events.table} is ${amount.type}, and no integer`)
    }
    const isMarkedFromZero = !events.isShared && (await this.#suit(events))
    const idColumn = columnOf(columns, events.table, events.id)
    checkIdColumn(this.access, events.table, idColumn)
    return {
      place: await prepareTarget(this.access, target),
      events: { ...events, idColumn, isMarkedFromZero },
    }
  }

  /** Whether its rows are marked from 0 on. */
  async #suit(events: Events): Promise<boolean> {
    const { asked, problem } = this.#counting.suits(events)
    const [row] = await this.access.rows(asked)
    if (row === undefined) throw misconfigured(problem)
    return Number(row['from_zero'] ?? 0) === 1
  }
}

interface Reader {
  rows(statement: Statement): Promise<readonly Row[]>
}

function nothingSince(version: number): RolledUp {
  return { version, since: version, values: NOTHING, events: 0, more: false, until: '' }
}

function addUp(
  missing: 'create' | 'refuse',
  ids: readonly string[],
  rows: readonly Row[],
  values: Map<string, bigint>,
  stored: Map<string, bigint>,
): void {
  const pending = new Map<string, bigint>()
  for (const row of rows) {
    const id = String(row['id'])
    if ((row['value'] ?? null) !== null) stored.set(id, BigInt(String(row['value'])))
    if ((row['pending'] ?? null) !== null) pending.set(id, BigInt(String(row['pending'])))
  }
  for (const id of ids) {
    const isKnown = stored.has(id) || missing === 'create'
    if (isKnown) values.set(id, (stored.get(id) ?? 0n) + (pending.get(id) ?? 0n))
  }
}

function inPages(ids: readonly string[]): string[][] {
  const pages = Math.ceil(ids.length / MOST_READ)
  return Array.from({ length: pages }, (_, at) => ids.slice(at * MOST_READ, (at + 1) * MOST_READ))
}
