// Applies changes in one transaction, and halves them until the rows that the database refuses are isolated.

import { SinkError } from '../../counters/errors.ts'
import type { Change, Refusal } from '../../counters/sink.ts'
import { causesOf, type SqlAccess } from './access.ts'
import { type Dialect, fitsCount, idFrom, type TargetPlace, type SqlRunner } from './dialect.ts'

/** Parts that have ended their transaction, and the error message of the database. */
export type Endings = Map<string, string>

const PART = 'perilune_part'
const MOST_OF_A_REASON = 300
/** The number of times a transaction is restarted after one has ended. */
const MOST_ENDINGS = 50

/** Changes all rows, or throws if any is left out. */
export async function changeAll(
  { dialect }: SqlAccess,
  runner: SqlRunner,
  place: TargetPlace,
  changes: readonly Change[],
): Promise<void> {
  if (changes.length === 0) return
  // SQLite, and MySQL outside of strict mode, would clamp the number to the greatest one.
  if (!changes.every(({ delta }) => fitsCount(delta))) throw new TooMuch(place)
  const there = await presentOf(dialect, runner, place, changes)
  const isThere = ({ id }: Change): boolean => there.has(id)
  // A change of 0 to an existing row has no effect.
  const updated = changes.filter((one) => isThere(one) && one.delta !== 0n)
  await run(dialect, runner, { ...place, missing: 'refuse' }, updated)
  const others = changes.filter((one) => !isThere(one))
  await run(dialect, runner, place, others)
}

/**
 * Ids whose rows exist. An INSERT uses up a number of a sequence or of AUTO_INCREMENT for each existing row, too: under
 * constant changes a column of 32 bits would run out of numbers for new rows.
 */
async function presentOf(
  dialect: Dialect,
  runner: SqlRunner,
  place: TargetPlace,
  changes: readonly Change[],
): Promise<ReadonlySet<string>> {
  const ids = changes.map(({ id }) => id)
  const asked = place.missing === 'create' ? dialect.present(place, ids) : null
  const rows = asked === null ? [] : await runner.rows(asked)
  return new Set(rows.map((row) => String(idFrom(row))))
}

async function run(
  dialect: Dialect,
  runner: SqlRunner,
  place: TargetPlace,
  changes: readonly Change[],
): Promise<void> {
  if (changes.length === 0) return
  for (const statement of dialect.change(place, changes)) {
    const changed = await runner.changes(statement)
    if (statement.rows !== null && changed !== statement.rows) throw new LeftOut(place)
  }
}

/** Whether the database has refused these rows, and might accept others. */
export function isOfRows({ dialect }: SqlAccess, error: unknown): boolean {
  return causesOf(error).some((one) => one instanceof OfRows || dialect.isOfRows(one))
}

export class Parts {
  readonly #access: SqlAccess
  readonly #runner: SqlRunner
  readonly #place: TargetPlace
  readonly #endings: Endings

  constructor(access: SqlAccess, runner: SqlRunner, place: TargetPlace, endings: Endings) {
    this.#access = access
    this.#runner = runner
    this.#place = place
    this.#endings = endings
  }

  /** Applies the changes that the database accepts; returns those that it refuses. */
  async change(changes: readonly Change[]): Promise<Refusal[]> {
    if (changes.length === 0) return []
    const why = await this.whyNot(changes)
    if (why === null) return []
    // More would take too long: the rest is kept and retried, and a value includes what is kept.
    if (changes.length === 1 || this.#endings.size >= MOST_ENDINGS)
      return changes.map((one) => ({ ...one, why }))
    const half = Math.ceil(changes.length / 2)
    const first = await this.change(changes.slice(0, half))
    return [...first, ...(await this.change(changes.slice(half)))]
  }

  /** Why the database refuses a part of the change; null if it accepted everything. */
  async whyNot(changes: readonly Change[]): Promise<string | null> {
    // A constraint may refuse the row of an INSERT, even if its sum with the existing row would be valid.
    const ways = this.#place.missing === 'create' ? (['refuse', 'create'] as const) : (['refuse'] as const)
    let why: string | null = null
    for (const missing of ways) {
      const part = `${missing} ${changes.map(({ id }) => id).join('\0')}`
      why = this.#endings.get(part) ?? (await this.#try({ ...this.#place, missing }, changes, part))
      if (why === null) return null
    }
    return why
  }

  async #try(place: TargetPlace, changes: readonly Change[], part: string): Promise<string | null> {
    await this.#runner.changes(plain(`SAVEPOINT ${PART}`))
    try {
      const before = await this.#unmet(place)
      await changeAll(this.#access, this.#runner, place, changes)
      if ((await this.#unmet(place)) > before) throw new Unmet(place)
    } catch (error) {
      if (!isOfRows(this.#access, error)) throw error
      const why = this.#access.explain(error).message.slice(0, MOST_OF_A_REASON)
      await this.#takeBack(part, why)
      return why
    }
    await this.#runner.changes(plain(`RELEASE SAVEPOINT ${PART}`))
    return null
  }

  /** Throws Ended if a trigger or a constraint has rolled back the whole transaction instead of its statement. */
  async #takeBack(part: string, why: string): Promise<void> {
    try {
      await this.#runner.changes(plain(`ROLLBACK TO SAVEPOINT ${PART}`))
    } catch (error) {
      throw this.#access.explain(error).isPassing ? error : new Ended(part, why)
    }
  }

  /**
   * How many rows break a rule that is only checked at the end and would reject everything. Existing rows break no
   * other rule.
   */
  async #unmet(place: TargetPlace): Promise<number> {
    const { unmet } = this.#access.dialect
    if (unmet === undefined || place.missing === 'refuse') return 0
    const [row] = await this.#runner.rows(unmet(place))
    return Number(row?.['unmet'] ?? 0)
  }
}

function plain(sql: string): { sql: string; values: [] } {
  return { sql, values: [] }
}

/** The database refuses rows, or would write something else. */
class OfRows extends SinkError {
  constructor(why: string) {
    super('sink-failed', why)
  }
}

class LeftOut extends OfRows {
  constructor({ missing, table }: TargetPlace) {
    const why = missing === 'refuse' ? 'it has no row' : 'the database has dropped its row'
    super(`${why} in ${table}`)
  }
}

class Unmet extends OfRows {
  constructor({ table }: TargetPlace) {
    super(`a DEFERRED FOREIGN KEY of ${table} refers to a missing row`)
  }
}

class TooMuch extends OfRows {
  constructor({ table, value }: TargetPlace) {
    super(`the sum for ${value} of ${table} would leave 64 bits`)
  }
}

/** The transaction has ended: its other work must be repeated. */
export class Ended extends SinkError {
  readonly part: string
  readonly why: string

  constructor(part: string, why: string) {
    super('sink-failed', `the transaction was rolled back: ${why}`)
    this.part = part
    this.why = why
  }
}
