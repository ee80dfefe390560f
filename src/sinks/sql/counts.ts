// Counts of rows in SQL: the order of the statements, which is the same everywhere. Dialects word them, stores run
// them. A roll-up locks the line of the counters, so that one runs at a time. It takes rows that were never counted,
// adds them to the counts and moves the line forward, all in one transaction. Its result is read after that. A read
// without the lock sees line, counts and rows in one statement, so each row is always in exactly one of the sums.

import type { Backlog, CountSource, Counts, RolledUp, RollUp } from '../../counters/count-source.ts'
import type { SinkError } from '../../counters/errors.ts'
import type { Change, Refusal } from '../../counters/sink.ts'
import { Known, misconfigured, SqlAccess } from './access.ts'
import { beyond } from './beyond.ts'
import { type ChangeRows, RowChanges } from './row-changes.ts'
import type { CountDialect, Events, EventsPlace, RollUpStanding, Taken } from './count-dialect.ts'
import {
  type TargetPlace,
  type Row,
  type SqlRunner,
  type SqlStore,
  type Statement,
  type Target,
  wholeOf,
} from './dialect.ts'
import { CountedTables, type ReadyTables, type SeenTables } from './counted-tables.ts'
import { type Owners, ownersFrom, recountOf, sumsFrom } from './recount.ts'
import { type AddedUp, addUp } from './rows-of-counters.ts'
import { checkFits, checkTarget } from './target.ts'

const MOST_READ = 1000
const MOST_WAITING = 10_000
const NOTHING: ReadonlyMap<string, bigint> = new Map()
/**
 * Versions skip up to so many numbers: an older copy of the database that continues by itself then does not reuse a
 * version that was shown.
 */
const MOST_LEFT_OUT = 2 ** 20

export class SqlCounts implements CountSource {
  readonly name: string
  readonly missing: 'create' | 'refuse'
  protected readonly access: SqlAccess
  protected readonly known: Known<ReadyTables>
  /** The user's tables, before anything is created next to them. */
  protected readonly seen: Known<SeenTables>
  readonly #counting: CountDialect
  protected readonly changing: RowChanges
  /** The last position that this process saw. */
  readonly #hints = new Map<string, string>()

  /** Throws InvalidArgumentError. */
  constructor(store: SqlStore, counting: CountDialect, events: Events, target: Target, prefix: string) {
    const full = checkTarget(counting.dialect, target, prefix)
    this.name = counting.dialect.name
    this.missing = full.missing
    this.access = new SqlAccess(store, counting.dialect)
    this.#counting = counting
    const tables = new CountedTables(this.access, counting, events, full)
    this.known = new Known(() => tables.prepare())
    this.seen = new Known(() => tables.look())
    this.changing = new RowChanges(
      this.access,
      (work) => this.known.use(({ place }) => work(place)),
      async () => (await this.see()).place,
    )
  }

  async prepare(): Promise<void> {
    await this.known.get()
  }

  async location(): Promise<string> {
    return (await this.see()).place.found.location
  }

  async tableNames(): Promise<string> {
    return (await this.see()).target
  }

  async hasCounted(counters: string): Promise<boolean> {
    const { schema } = (await this.see()).place.found
    if (!(await this.access.has([schema, 'perilune_cursor']))) return false
    const [row] = await this.access.rows(this.#counting.standing(schema, counters))
    return Number(row?.['version'] ?? 0) > 0
  }

  protected see(): Promise<Pick<SeenTables, 'place' | 'target'>> {
    return this.known.found ?? this.seen.get()
  }

  rollUp(asked: RollUp): Promise<RolledUp> {
    return this.known.use((ready) => this.#rollUp(ready, asked))
  }

  async #rollUp(
    ready: ReadyTables,
    { counters, ids, limit, recount, until, isSure }: RollUp,
  ): Promise<RolledUp> {
    const { place, events } = ready
    const { schema } = place.found
    const fitting = (all: readonly string[]): string[] => all.filter((id) => this.#fits(place, id))
    const asked = fitting(ids)
    const mayBeIdle = ids.length === 0 && isSure !== true
    const idle = mayBeIdle ? await this.#idle(ready, counters) : null
    if (idle !== null) return idle
    const misfits: Refusal[] = []
    const { result, refused } = await this.changing.transaction(place, counters, async (runner, change) => {
      const standing = await this.#lock(runner, ready, counters)
      // Kept private until the commit: for other calls it would be a hint that leaves rows out.
      const learnt = new Map([[counters, standing.reached]])
      const read = (all: readonly string[]) => this.#read(runner, ready, counters, all, learnt)
      if (recount) await this.#recount(runner, ready, standing, asked, { change, read })
      const taken = await this.#counting.take(runner, events, standing, limit, until)
      misfits.splice(0, misfits.length, ...(await this.#count(runner, place, counters, taken, change)))
      if (taken.events === 0 && ids.length === 0) return nothingSince(standing.version)
      await runner.changes(this.#counting.move(schema, { ...standing, reached: taken.reached }))
      learnt.set(counters, taken.reached)
      const all = [...new Set([...fitting(taken.changes.map(({ id }) => id)), ...asked])]
      const { values } = await read(all)
      const { more } = taken
      return {
        version: standing.next,
        since: standing.version,
        values,
        events: taken.events,
        more,
        until: taken.until,
      }
    })
    return { ...result, refused: [...refused, ...misfits] }
  }

  read(counters: string, ids: readonly string[]): Promise<Counts> {
    return this.known.use(async (ready) => {
      for (const id of ids) checkFits(this.access, ready.place.table, ready.place.idColumn, id)
      const { version, values } = await this.#read(this.access, ready, counters, ids, this.#hints)
      return { version, values }
    })
  }

  async waiting(counters: string): Promise<Backlog> {
    const row = await this.known.use((ready) => this.#waiting(ready, counters, MOST_WAITING))
    const age = row['age_ms'] ?? null
    return {
      rows: Number(row['waiting']),
      ageMs: age === null ? null : Math.max(0, Math.round(Number(age))),
    }
  }

  refused(counters: string): Promise<readonly Refusal[]> {
    return this.changing.refused(counters)
  }

  retryRefused(counters: string): Promise<boolean> {
    return this.changing.retryRefused(counters)
  }

  /** The result if no row waits; null if one does. */
  async #idle(ready: ReadyTables, counters: string): Promise<RolledUp | null> {
    const { waiting, version } = await this.#waiting(ready, counters, 1)
    return Number(waiting) === 0 ? nothingSince(Number(version ?? 0)) : null
  }

  async #waiting({ place, events }: ReadyTables, counters: string, most: number): Promise<Row> {
    const { schema } = place.found
    for (;;) {
      const hint = await this.#hint(this.access, schema, counters, this.#hints)
      const rows = await this.access.rows(this.#counting.waiting(schema, events, counters, hint, most))
      if (!learn(this.#hints, counters, hint, rows)) continue
      const [row = {}] = rows
      // Rows written here would never be found as waiting.
      if (typeof row['flaw'] === 'string') await this.#refuse(schema, counters, row['flaw'])
      return row
    }
  }

  async #refuse(schema: string, counters: string, flaw: string): Promise<never> {
    const kept = this.#counting.keepFlaw?.(schema, counters, flaw)
    // A user that may only read gets the same error.
    if (kept !== undefined) await this.access.change(kept).catch(() => 0)
    throw ahead(flaw, counters)
  }

  async #lock(runner: SqlRunner, { place, events }: ReadyTables, counters: string): Promise<RollUpStanding> {
    const { schema } = place.found
    for (let isLocked = false; ; ) {
      const [row] = await runner.rows(this.#counting.lock(schema, counters, events))
      const flaw = row?.['flaw']
      if (row === undefined) {
        await runner.changes(this.#counting.enter(schema, counters))
      } else if (typeof flaw !== 'string') {
        const version = Number(row['version'])
        const next = beyond(version, MOST_LEFT_OUT)
        return { counters, version, next, reached: String(row['reached']) }
      } else if (isLocked) {
        throw ahead(flaw, counters)
      } else {
        // The statement may have begun before the one that it waited for: its snapshot is then older than the row that
        // it got.
        isLocked = true
      }
    }
  }

  /**
   * Adds the rows that were taken. Changes of ids that the column cannot hold would stop all others: they are kept
   * apart, and returned.
   */
  async #count(
    runner: SqlRunner,
    place: TargetPlace,
    counters: string,
    { changes }: Taken,
    change: ChangeRows,
  ): Promise<Refusal[]> {
    const misfits = changes.flatMap((one) => {
      const why = this.#counting.dialect.misfit(one.id, place.idColumn)
      return why === undefined ? [] : [{ ...one, why }]
    })
    await change(this.#worth(changes, place))
    await this.changing.keepAll(runner, place, counters, misfits)
    return misfits
  }

  /** A change of 0 to a row has no effect: it only matters if the row must be created. */
  #worth(changes: readonly Change[], place: TargetPlace): Change[] {
    const creates = place.missing === 'create'
    return changes.filter(({ id, delta }) => this.#fits(place, id) && (creates || delta !== 0n))
  }

  /** Sets the counts of some counters to the sum of their counted rows. */
  async #recount(
    runner: SqlRunner,
    { place, events }: ReadyTables,
    at: RollUpStanding,
    ids: readonly string[],
    { change, read }: { change: ChangeRows; read: (ids: readonly string[]) => Promise<Read> },
  ): Promise<void> {
    for (const page of inPages(ids)) {
      const asked = page.filter((id) => this.#fits(events, id))
      const sums = sumsFrom(await runner.rows(this.#counting.sums(events, at, asked)))
      const all = [...new Set([...page, ...sums.keys()])].filter((id) => this.#fits(place, id))
      const owners = await this.#owners(runner, place, all)
      const changes = recountOf(page, sums, owners, await read([...new Set([...all, ...owners.values()])]))
      const changed = changes.filter(({ delta }) => delta !== 0n)
      if (changed.length > 0) await change(this.#worth(changed, place))
    }
  }

  async #owners(runner: SqlRunner, place: TargetPlace, ids: readonly string[]): Promise<Owners> {
    const rows: Row[] = []
    for (const page of inPages(ids))
      rows.push(...(await runner.rows(this.#counting.dialect.owners(place, page))))
    return ownersFrom(rows)
  }

  async #read(
    runner: Reader,
    { place, events }: ReadyTables,
    counters: string,
    ids: readonly string[],
    hints: Map<string, string>,
  ): Promise<Read> {
    const all: AddedUp = { values: new Map(), counted: new Map(), aside: new Map() }
    let version = 0
    for (const page of inPages(ids)) {
      for (;;) {
        const hint = await this.#hint(runner, place.found.schema, counters, hints)
        const rows = await runner.rows(this.#counting.values(place, events, counters, page, hint))
        if (!learn(hints, counters, hint, rows)) continue
        version = Number(rows.find((row) => (row['version'] ?? null) !== null)?.['version'] ?? 0)
        addUp(this.missing, page, rows, all)
        break
      }
    }
    if (this.missing === 'create') {
      for (const id of ids) if (!all.values.has(id)) all.values.set(id, 0n)
    }
    return { version, ...all }
  }

  /** Read once: without a hint the first statement would look at every row. */
  async #hint(runner: Reader, schema: string, counters: string, hints: Map<string, string>): Promise<string> {
    const known = hints.get(counters)
    if (known !== undefined) return known
    const [row] = await runner.rows(this.#counting.standing(schema, counters))
    return wholeOf(row?.['reached'])
  }

  #fits({ idColumn }: TargetPlace | EventsPlace, id: string): boolean {
    return this.#counting.dialect.misfit(id, idColumn) === undefined
  }
}

interface Reader {
  rows(statement: Statement): Promise<readonly Row[]>
}

interface Read extends Counts, AddedUp {
  readonly values: Map<string, bigint>
}

function ahead(flaw: string, counters: string): SinkError {
  return misconfigured(`${flaw}: ${counters}`)
}

function nothingSince(version: number): RolledUp {
  return { version, since: version, values: NOTHING, events: 0, more: false, until: '' }
}

/**
 * False if the hint of the statement was too great, because the database came back with an old copy: then rows were
 * left out. Positions from other statements do not matter for this one.
 */
function learn(hints: Map<string, string>, counters: string, hint: string, rows: readonly Row[]): boolean {
  const reached = wholeOf(rows.find((row) => (row['reached'] ?? null) !== null)?.['reached'])
  hints.set(counters, reached)
  return BigInt(reached) >= BigInt(hint)
}

function inPages(ids: readonly string[]): string[][] {
  const pages = Math.ceil(ids.length / MOST_READ)
  return Array.from({ length: pages }, (_, at) => ids.slice(at * MOST_READ, (at + 1) * MOST_READ))
}
