// The tables that counts of rows need: those of the user, and Perilune's next to the target.

import { columnOf, misconfigured, type SqlAccess } from './access.ts'
import type { CountDialect, Events, EventsPlace, FoundEvents } from './count-dialect.ts'
import type { Column, FoundTable, FullTarget, TargetPlace } from './dialect.ts'
import { checkIdColumn, checkShowsRows, findTarget, makeRefused, nameOfTarget } from './target.ts'

export interface ReadyTables {
  readonly place: TargetPlace
  readonly events: EventsPlace
  /** As in `CountSource`. */
  readonly target: string
}

/** The user's tables; null: the rows are in an outbox, which may not exist yet. */
export interface SeenTables extends Omit<ReadyTables, 'events'> {
  readonly events: EventsPlace | null
}

export class CountedTables {
  readonly #access: SqlAccess
  readonly #counting: CountDialect
  readonly #events: Events
  readonly #target: FullTarget

  constructor(access: SqlAccess, counting: CountDialect, events: Events, target: FullTarget) {
    this.#access = access
    this.#counting = counting
    this.#events = events
    this.#target = target
  }

  /** Throws SinkError. */
  async prepare(): Promise<ReadyTables> {
    const seen = await this.look()
    const { place } = seen
    const { schema } = place.found
    await makeRefused(this.#access, place)
    await this.#access.make([schema, 'perilune_cursor'], this.#counting.cursors(schema))
    const rows = seen.events ?? (await this.#makeOutbox(place))
    const beside = ['perilune_cursor', 'perilune_refused'].map((name) => [schema, name] as const)
    await checkShowsRows(this.#access, this.#target, beside)
    return { ...seen, events: rows }
  }

  async #makeOutbox(place: TargetPlace): Promise<EventsPlace> {
    const { schema } = place.found
    const { table } = this.#events
    await this.#access.make([schema, table], this.#counting.outbox(schema))
    for (const index of this.#counting.outboxIndexes?.(schema) ?? []) await this.#access.makeBeside(index)
    const found = { ...place.found, name: table }
    return this.#rowsIn(found, await this.#access.columns([schema, table]))
  }

  /** Creates nothing. Throws SinkError. */
  async look(): Promise<SeenTables> {
    const { isShared, table } = this.#events
    const place = await findTarget(this.#access, this.#target)
    if (isShared) return { place, events: null, target: `${nameOfTarget(place)} from ${table}` }
    const { found, columns } = await this.#access.find(table)
    const rows = await this.#rowsIn(found, columns)
    return { place, events: rows, target: `${nameOfTarget(place)} from ${nameOfRows(place, rows)}` }
  }

  async #rowsIn(found: FoundTable, columns: ReadonlyMap<string, Column>): Promise<EventsPlace> {
    const events = this.#events
    await checkShowsRows(this.#access, this.#target, [[found.schema, found.name]])
    for (const name of [events.mark, events.key]) if (name !== '') columnOf(columns, events.table, name)
    this.#checkTypes(events, columns)
    const isMarkedFromZero = !events.isShared && (await this.#suit({ ...events, found }))
    const idColumn = { ...columnOf(columns, events.table, events.id), makesZero: false }
    checkIdColumn(this.#access, events.table, idColumn)
    const stamped = [...columns.values()].filter(({ isStamped }) => isStamped).map(({ name }) => name)
    return { ...events, found, idColumn, isMarkedFromZero, stamped }
  }

  #checkTypes({ table, amount, at, isShared }: Events, columns: ReadonlyMap<string, Column>): void {
    const { dialect } = this.#counting
    const amounts = amount === null ? undefined : columnOf(columns, table, amount)
    if (amounts !== undefined && !dialect.isWhole(amounts.type)) {
      throw misconfigured(`the column ${amounts.name} of ${table} is ${amounts.type}, not an integer`)
    }
    const times = at === null || isShared ? undefined : columnOf(columns, table, at)
    if (times !== undefined && !dialect.isTime(times.type)) {
      throw misconfigured(`the column ${times.name} of ${table} is ${times.type}, not a time with a date`)
    }
  }

  /** Whether the marks of waiting rows are 0. */
  async #suit(events: FoundEvents): Promise<boolean> {
    const { asked, problem } = this.#counting.suits(events)
    const [row] = await this.#access.rows(asked)
    if (row === undefined) throw misconfigured(problem)
    return Number(row['from_zero'] ?? 0) === 1
  }
}

/** The rows with the columns that decide what is counted, as all processes name them: `votes (item, points, tx)`. */
function nameOfRows({ found }: TargetPlace, { found: own, id, amount, mark }: EventsPlace): string {
  // The name of a schema of SQLite is that of a connection.
  const table = own.location === found.location ? own.name : `${own.schema}.${own.name}`
  return `${table} (${[id, amount ?? '1', mark].filter((each) => each !== '').join(', ')})`
}
