// Changes rows in a few statements, each of which returns how many rows it changed. If the database refuses any, the
// changes are halved until the refused rows are isolated. The refused changes are kept in `perilune_refused`, in the
// same transaction.

import type { Change, Refusal, Refusals } from '../../counters/sink.ts'
import { causesOf, type SqlAccess } from './access.ts'
import { idFrom, type TargetPlace, type SqlRunner, wholeOf } from './dialect.ts'
import { changeAll, Ended, type Endings, isOfRows, Parts } from './parts.ts'

/** Changes rows of a target, or throws if any is left out. */
export type ChangeRows = (changes: readonly Change[]) => Promise<void>

/** Runs work with the target, and once more if a table of Perilune had disappeared. */
export type WithPlace = <Done>(work: (place: TargetPlace) => Promise<Done>) => Promise<Done>

export interface Changed<Result> {
  readonly result: Result
  readonly refused: readonly Refusal[]
}

const MOST_LISTED = 1000
const MOST_TRIED = 100
/** How long refused rows are retried, one after the other: flushes wait for it. */
const TRYING_MS = 500
const MOST_BYTES_OF_AN_ID = 255

export class RowChanges implements Refusals {
  readonly #access: SqlAccess
  readonly #withPlace: WithPlace
  readonly #see: () => Promise<TargetPlace>

  /** `see`: the target, without creating anything next to it. */
  constructor(access: SqlAccess, withPlace: WithPlace, see: () => Promise<TargetPlace>) {
    this.#access = access
    this.#withPlace = withPlace
    this.#see = see
  }

  /** Runs work in a transaction, with care if the database refuses a row. Throws SinkError. */
  async transaction<Result>(
    place: TargetPlace,
    counters: string,
    work: (runner: SqlRunner, change: ChangeRows) => Promise<Result>,
  ): Promise<Changed<Result>> {
    try {
      const result = await this.#access.transaction((runner) =>
        work(runner, (changes) => changeAll(this.#access, runner, place, changes)),
      )
      return { result, refused: [] }
    } catch (error) {
      if (!isOfRows(this.#access, error)) throw error
    }
    return this.#withCare(async (runner, endings) => {
      const refused: Refusal[] = []
      const parts = new Parts(this.#access, runner, place, endings)
      const result = await work(runner, async (changes) => {
        for (const one of await parts.change(changes)) {
          refused.push(one)
          await this.#keep(runner, place, counters, one)
        }
      })
      return { result, refused }
    })
  }

  /** A transaction that tries changes in parts. If a part ends the transaction, it is restarted without that part. */
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

  /** Keeps changes for which no row can be changed. */
  async keepAll(
    runner: SqlRunner,
    place: TargetPlace,
    counters: string,
    all: readonly Refusal[],
  ): Promise<void> {
    for (const one of all) await this.#keep(runner, place, counters, one)
  }

  async refused(counters: string): Promise<readonly Refusal[]> {
    const { schema } = (await this.#see()).found
    // A process in a wrong place may ask, too.
    if (!(await this.#access.has([schema, 'perilune_refused']))) return []
    const rows = await this.#access.rows(this.#access.dialect.refused.list(schema, counters, MOST_LISTED))
    return rows.map((row) => ({
      id: String(idFrom(row)),
      delta: BigInt(String(row['delta'])),
      why: String(row['why']),
    }))
  }

  retryRefused(counters: string): Promise<boolean> {
    return this.#withPlace((place) => this.#retryAll(place, counters))
  }

  async #retryAll(place: TargetPlace, counters: string): Promise<boolean> {
    const { refused } = this.#access.dialect
    const rows = await this.#access.rows(refused.list(place.found.schema, counters, MOST_TRIED))
    if (rows.length === 0) return false
    const left = await this.#withCare(async (runner, endings) => {
      const parts = new Parts(this.#access, runner, place, endings)
      const until = performance.now() + TRYING_MS
      let count = rows.length
      for (const row of rows) {
        if (await this.#retry(runner, place, counters, String(idFrom(row)), parts)) count--
        if (performance.now() > until) break
      }
      return count
    })
    return left > 0 || rows.length === MOST_TRIED
  }

  /** Whether none of it is kept any more. */
  async #retry(
    runner: SqlRunner,
    place: TargetPlace,
    counters: string,
    id: string,
    parts: Parts,
  ): Promise<boolean> {
    const { refused, misfit } = this.#access.dialect
    const { schema } = place.found
    const [row] = await runner.rows(refused.lock(schema, counters, id))
    if (row === undefined) return true
    const delta = BigInt(String(row['delta']))
    const problem = misfit(id, place.idColumn)
    const why = problem ?? (await parts.whyNot(delta === 0n ? [] : [{ id, delta }]))
    await runner.changes(
      why === null ? refused.remove(schema, counters, id) : refused.put(schema, counters, { id, delta, why }),
    )
    return why === null
  }

  async #keep(runner: SqlRunner, { found }: TargetPlace, counters: string, one: Refusal): Promise<void> {
    const { refused } = this.#access.dialect
    // No caller can ask for such an id, and no row can have it.
    if (Buffer.byteLength(one.id) > MOST_BYTES_OF_AN_ID || one.id.includes('\0')) return
    const lock = refused.lock(found.schema, counters, one.id)
    let [row] = await runner.rows(lock)
    while (row === undefined) {
      // A missing row cannot be locked, and another epoch may be inserting the same counter now.
      await runner.changes(refused.enter(found.schema, counters, one.id))
      ;[row] = await runner.rows(lock)
    }
    const delta = one.delta + BigInt(wholeOf(row['delta']))
    await runner.changes(refused.put(found.schema, counters, { ...one, delta }))
  }
}
