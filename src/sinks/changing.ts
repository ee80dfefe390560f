// Changes of rows: in a few statements, each of which says how many rows it changed; where the database refuses any of them, once
// more, in halves, until the rows that it refuses are alone. What they were to get is kept in `perilune_refused`, in the same transaction.

import { SinkError } from '../counters/errors.ts'
import type { Change, Refusal, Refusals } from '../counters/sink.ts'
import { causesOf, type SqlAccess } from './access.ts'
import { type Place, type SqlRunner, wholeOf } from './dialect.ts'

/** Changes rows of a target, or throws where that leaves any out. */
export type ChangeRows = (changes: readonly Change[]) => Promise<void>

export interface Changed<Result> {
  readonly result: Result
  readonly refused: readonly Refusal[]
}

const PART = 'perilune_part'
const MOST_LISTED = 1000
const MOST_TRIED = 100
const MOST_BYTES_OF_AN_ID = 255
const MOST_OF_A_REASON = 300

export class Changing implements Refusals {
  readonly #access: SqlAccess
  readonly #place: () => Promise<Place>

  constructor(access: SqlAccess, place: () => Promise<Place>) {
    this.#access = access
    this.#place = place
  }

  /** Work in a transaction, which is done once more where the database refuses a row. Throws SinkError. */
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
    return this.#access.transaction(async (runner) => {
      const refused: Refusal[] = []
      for (const first of this.#access.dialect.carefully) await runner.changes(first)
      const result = await work(runner, async (changes) => {
        for (const one of await this.#changeInParts(runner, place, changes)) {
          refused.push(one)
          await this.#keep(runner, place, counters, one)
        }
      })
      return { result, refused }
    })
  }

  /** Keeps what no row can be changed for. */
  async keepAll(runner: SqlRunner, place: Place, counters: string, all: readonly Refusal[]): Promise<void> {
    for (const one of all) await this.#keep(runner, place, counters, one)
  }

  async refused(counters: string): Promise<readonly Refusal[]> {
    const { found } = await this.#place()
    const { refused } = this.#access.dialect
    const rows = await this.#access.rows(refused.list(found.schema, counters, MOST_LISTED))
    return rows.map(({ id, delta, why }) => ({
      id: String(id),
      delta: BigInt(String(delta)),
      why: String(why),
    }))
  }

  async retryRefused(counters: string): Promise<boolean> {
    const place = await this.#place()
    const { refused } = this.#access.dialect
    const rows = await this.#access.rows(refused.list(place.found.schema, counters, MOST_TRIED))
    if (rows.length === 0) return false
    const left = await this.#access.transaction(async (runner) => {
      let count = 0
      for (const { id } of rows) count += (await this.#retry(runner, place, counters, String(id))) ? 0 : 1
      return count
    })
    return left > 0 || rows.length === MOST_TRIED
  }

  /** Whether nothing is kept of it any more. */
  async #retry(runner: SqlRunner, place: Place, counters: string, id: string): Promise<boolean> {
    const { refused, misfit } = this.#access.dialect
    const { schema } = place.found
    const [row] = await runner.rows(refused.lock(schema, counters, id))
    if (row === undefined) return true
    const delta = BigInt(String(row['delta']))
    const problem = misfit(id, place.idColumn)
    const why = problem ?? (await this.#tryPart(runner, place, delta === 0n ? [] : [{ id, delta }]))
    await runner.changes(
      why === null ? refused.remove(schema, counters, id) : refused.put(schema, counters, { id, delta, why }),
    )
    return why === null
  }

  async #keep(runner: SqlRunner, { found }: Place, counters: string, one: Refusal): Promise<void> {
    const { refused } = this.#access.dialect
    // Nobody can ask for it, and no row can have it.
    if (Buffer.byteLength(one.id) > MOST_BYTES_OF_AN_ID || one.id.includes('\0')) return
    const [row] = await runner.rows(refused.lock(found.schema, counters, one.id))
    const delta = one.delta + BigInt(wholeOf(row?.['delta']))
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
  async #changeInParts(runner: SqlRunner, place: Place, changes: readonly Change[]): Promise<Refusal[]> {
    if (changes.length === 0) return []
    const why = await this.#tryPart(runner, place, changes)
    if (why === null) return []
    const [only] = changes
    if (only !== undefined && changes.length === 1) return [{ ...only, why }]
    const half = Math.ceil(changes.length / 2)
    const first = await this.#changeInParts(runner, place, changes.slice(0, half))
    return [...first, ...(await this.#changeInParts(runner, place, changes.slice(half)))]
  }

  /** Why the database refuses a part of it; null: it has taken all. */
  async #tryPart(runner: SqlRunner, place: Place, changes: readonly Change[]): Promise<string | null> {
    // A constraint may refuse the row that an INSERT brings, though the sum with the one that is there would do.
    const ways = place.missing === 'create' ? (['refuse', 'create'] as const) : (['refuse'] as const)
    let why: string | null = null
    for (const missing of ways) {
      why = await this.#tryWay(runner, { ...place, missing }, changes)
      if (why === null) return null
    }
    return why
  }

  async #tryWay(runner: SqlRunner, place: Place, changes: readonly Change[]): Promise<string | null> {
    await runner.changes(plain(`SAVEPOINT ${PART}`))
    try {
      await this.#change(runner, place, changes)
    } catch (error) {
      if (!this.#isOfRows(error)) throw error
      await runner.changes(plain(`ROLLBACK TO SAVEPOINT ${PART}`))
      return this.#access.explain(error).message.slice(0, MOST_OF_A_REASON)
    }
    await runner.changes(plain(`RELEASE SAVEPOINT ${PART}`))
    return null
  }

  #isOfRows(error: unknown): boolean {
    return causesOf(error).some((one) => one instanceof LeftOut || this.#access.dialect.isOfRows(one))
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
