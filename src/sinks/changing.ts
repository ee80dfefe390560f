// Changes of rows: in a few statements, each of which says how many rows it changed; where the database refuses any of them, once
// more, in halves, until the rows that it refuses are alone. What they were to get is kept in `perilune_refused`, in the same transaction.

import { SinkError } from '../counters/errors.ts'
import type { Change, Refusal, Refusals } from '../counters/sink.ts'
import { causesOf, type SqlAccess } from './access.ts'
import { type Place, type SqlRunner, wholeOf } from './dialect.ts'

/** Changes rows of a target, or throws where that leaves any out. */
export type ChangeRows = (changes: readonly Change[]) => Promise<void>

/** Does work with the target, and once more where a table of ours was gone. */
export type WithPlace = <Done>(work: (place: Place) => Promise<Done>) => Promise<Done>

/** Parts that have ended the transaction they were tried in, and why the database refused them. */
type Endings = Map<string, string>

export interface Changed<Result> {
  readonly result: Result
  readonly refused: readonly Refusal[]
}

const PART = 'perilune_part'
const MOST_LISTED = 1000
const MOST_TRIED = 100
const MOST_BYTES_OF_AN_ID = 255
const MOST_OF_A_REASON = 300
/** Transactions that are begun anew for one that has ended. */
const MOST_ENDINGS = 50

export class Changing implements Refusals {
  readonly #access: SqlAccess
  readonly #withPlace: WithPlace

  constructor(access: SqlAccess, withPlace: WithPlace) {
    this.#access = access
    this.#withPlace = withPlace
  }

  /** Work in a transaction, which is done with care where the database refuses a row. Throws SinkError. */
  async transaction<Result>(
    place: Place,
    counters: string,
    work: (runner: SqlRunner, change: ChangeRows) => Promise<Result>,
  ): Promise<Changed<Result>> {
    try {
      const result = await this.#access.transaction((runner) =>
        work(runner, (changes) => this.#change(runner, place, changes)),
      )
      return { result, refused: [] }
    } catch (error) {
      if (!this.#isOfRows(error)) throw error
    }
    return this.#withCare(async (runner, endings) => {
      const refused: Refusal[] = []
      const result = await work(runner, async (changes) => {
        for (const one of await this.#changeInParts(runner, place, changes, endings)) {
          refused.push(one)
          await this.#keep(runner, place, counters, one)
        }
      })
      return { result, refused }
    })
  }

  /** A transaction in which parts are tried; begun anew where one of them has ended it, and then without that part. */
  async #withCare<Result>(work: (runner: SqlRunner, endings: Endings) => Promise<Result>): Promise<Result> {
    const endings: Endings = new Map()
    for (;;) {
      try {
        return await this.#access.transaction(async (runner) => {
          for (const first of this.#access.dialect.carefully) await runner.changes(first)
          return work(runner, endings)
        })
      } catch (error) {
        const ended = causesOf(error).find((one) => one instanceof Ended)
        if (ended === undefined || endings.has(ended.part)) throw error
        endings.set(ended.part, ended.why)
      }
    }
  }

  /** Keeps what no row can be changed for. */
  async keepAll(runner: SqlRunner, place: Place, counters: string, all: readonly Refusal[]): Promise<void> {
    for (const one of all) await this.#keep(runner, place, counters, one)
  }

  async refused(counters: string): Promise<readonly Refusal[]> {
    const { refused } = this.#access.dialect
    const rows = await this.#withPlace(({ found }) =>
      this.#access.rows(refused.list(found.schema, counters, MOST_LISTED)),
    )
    return rows.map(({ id, delta, why }) => ({
      id: String(id),
      delta: BigInt(String(delta)),
      why: String(why),
    }))
  }

  retryRefused(counters: string): Promise<boolean> {
    return this.#withPlace((place) => this.#retryAll(place, counters))
  }

  async #retryAll(place: Place, counters: string): Promise<boolean> {
    const { refused } = this.#access.dialect
    const rows = await this.#access.rows(refused.list(place.found.schema, counters, MOST_TRIED))
    if (rows.length === 0) return false
    const left = await this.#withCare(async (runner, endings) => {
      let count = 0
      for (const { id } of rows)
        count += (await this.#retry(runner, place, counters, String(id), endings)) ? 0 : 1
      return count
    })
    return left > 0 || rows.length === MOST_TRIED
  }

  /** Whether nothing is kept of it any more. */
  async #retry(
    runner: SqlRunner,
    place: Place,
    counters: string,
    id: string,
    endings: Endings,
  ): Promise<boolean> {
    const { refused, misfit } = this.#access.dialect
    const { schema } = place.found
    const [row] = await runner.rows(refused.lock(schema, counters, id))
    if (row === undefined) return true
    const delta = BigInt(String(row['delta']))
    const problem = misfit(id, place.idColumn)
    const why = problem ?? (await this.#tryPart(runner, place, delta === 0n ? [] : [{ id, delta }], endings))
    await runner.changes(
      why === null ? refused.remove(schema, counters, id) : refused.put(schema, counters, { id, delta, why }),
    )
    return why === null
  }

  async #keep(runner: SqlRunner, { found }: Place, counters: string, one: Refusal): Promise<void> {
    const { refused } = this.#access.dialect
    // Nobody can ask for it, and no row can have it.
    if (Buffer.byteLength(one.id) > MOST_BYTES_OF_AN_ID || one.id.includes('\0')) return
    const lock = refused.lock(found.schema, counters, one.id)
    let [row] = await runner.rows(lock)
    // A row that is not there cannot be locked, and another epoch may be keeping the same counter just now.
    for (; row === undefined; [row] = await runner.rows(lock))
      await runner.changes(refused.enter(found.schema, counters, one.id))
    const delta = one.delta + BigInt(wholeOf(row['delta']))
    await runner.changes(refused.put(found.schema, counters, { ...one, delta }))
  }

  async #change(runner: SqlRunner, place: Place, changes: readonly Change[]): Promise<void> {
    if (changes.length === 0) return
    for (const statement of this.#access.dialect.change(place, changes)) {
      const changed = await runner.changes(statement)
      if (statement.rows !== null && changed !== statement.rows) throw new LeftOut(place)
    }
  }

  /** Changes what the database takes; answers what it refuses. */
  async #changeInParts(
    runner: SqlRunner,
    place: Place,
    changes: readonly Change[],
    endings: Endings,
  ): Promise<Refusal[]> {
    if (changes.length === 0) return []
    const why = await this.#tryPart(runner, place, changes, endings)
    if (why === null) return []
    // More would take too long: what is kept is tried again, and counts where it is kept as well.
    if (changes.length === 1 || endings.size >= MOST_ENDINGS) return changes.map((one) => ({ ...one, why }))
    const half = Math.ceil(changes.length / 2)
    const first = await this.#changeInParts(runner, place, changes.slice(0, half), endings)
    return [...first, ...(await this.#changeInParts(runner, place, changes.slice(half), endings))]
  }

  /** Why the database refuses a part of it; null: it has taken all. */
  async #tryPart(
    runner: SqlRunner,
    place: Place,
    changes: readonly Change[],
    endings: Endings,
  ): Promise<string | null> {
    // A constraint may refuse the row that an INSERT brings, though the sum with the one that is there would do.
    const ways = place.missing === 'create' ? (['refuse', 'create'] as const) : (['refuse'] as const)
    let why: string | null = null
    for (const missing of ways) {
      const part = `${missing} ${changes.map(({ id }) => id).join('\0')}`
      why = endings.get(part) ?? (await this.#tryWay(runner, { ...place, missing }, changes, part))
      if (why === null) return null
    }
    return why
  }

  async #tryWay(
    runner: SqlRunner,
    place: Place,
    changes: readonly Change[],
    part: string,
  ): Promise<string | null> {
    await runner.changes(plain(`SAVEPOINT ${PART}`))
    try {
      const before = await this.#unmet(runner, place)
      await this.#change(runner, place, changes)
      if ((await this.#unmet(runner, place)) > before) throw new Unmet(place)
    } catch (error) {
      if (!this.#isOfRows(error)) throw error
      const why = this.#access.explain(error).message.slice(0, MOST_OF_A_REASON)
      await this.#takeBack(runner, part, why)
      return why
    }
    await runner.changes(plain(`RELEASE SAVEPOINT ${PART}`))
    return null
  }

  /** Throws Ended where a trigger, or a constraint, has rolled back the whole transaction and not its statement. */
  async #takeBack(runner: SqlRunner, part: string, why: string): Promise<void> {
    try {
      await runner.changes(plain(`ROLLBACK TO SAVEPOINT ${PART}`))
    } catch (error) {
      throw this.#access.explain(error).isPassing ? error : new Ended(part, why)
    }
  }

  /** How many rows break a rule that is looked at when all is done, and would refuse the whole. A row that is there breaks no other. */
  async #unmet(runner: SqlRunner, place: Place): Promise<number> {
    const { unmet } = this.#access.dialect
    if (unmet === undefined || place.missing === 'refuse') return 0
    const [row] = await runner.rows(unmet(place))
    return Number(row?.['unmet'] ?? 0)
  }

  #isOfRows(error: unknown): boolean {
    return causesOf(error).some(
      (one) => one instanceof LeftOut || one instanceof Unmet || this.#access.dialect.isOfRows(one),
    )
  }
}

function plain(sql: string): { sql: string; values: [] } {
  return { sql, values: [] }
}

class LeftOut extends SinkError {
  constructor({ missing, table }: Place) {
    const why = missing === 'refuse' ? 'there is no row of it' : 'the database has left its row out'
    super('sink-failed', `${why} in ${table}`)
  }
}

class Unmet extends SinkError {
  constructor({ table }: Place) {
    super('sink-failed', `a FOREIGN KEY of ${table} that is DEFERRED has no row`)
  }
}

/** The transaction is over: what else was done in it has to be done again. */
class Ended extends SinkError {
  readonly part: string
  readonly why: string

  constructor(part: string, why: string) {
    super('sink-failed', `the transaction was rolled back: ${why}`)
    this.part = part
    this.why = why
  }
}
