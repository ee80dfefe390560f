// A database as counters see it, in memory: transactions happen at once or not at all. It may crash before or after
// one, and the caller cannot distinguish the two.

import { SinkError } from '../../src/counters/errors.ts'
import type { Applied, Batch, LedgerEnd, LedgerPlace, Sink, Snapshot } from '../../src/counters/sink.ts'
import type { Rule } from './rules.ts'
import type { Stage } from './stage.ts'

interface Line {
  readonly seq: number
  readonly batch: string
  readonly isClosed?: boolean
}

/** The content of the database after a commit. */
interface Commit {
  readonly values: ReadonlyMap<string, bigint>
  readonly ledger: ReadonlyMap<number, Line>
}

export class Database {
  values: Map<string, bigint> = new Map()
  #ledger = new Map<number, Line>()
  readonly #commits: Commit[] = []
  /** Of all epochs, also of those that an older copy does not know: the real one leaves out many numbers. */
  #newest = 0
  readonly without: Rule | null

  constructor(without: Rule | null) {
    this.without = without
  }

  begin(): number {
    this.#commit()
    this.#newest += 1
    this.#ledger.set(this.#newest, { seq: 0, batch: '' })
    return this.#newest
  }

  close(epoch: number): LedgerEnd | null {
    if (this.without === 'closing') return null
    this.#commit()
    for (const [at, line] of this.#ledger) if (at <= epoch) this.#ledger.set(at, { ...line, isClosed: true })
    return this.#ledger.get(epoch) ?? null
  }

  /** Comes back without its last commits; returns whether it had any. */
  goBack(commits: number): boolean {
    const [to] = this.#commits.splice(Math.max(0, this.#commits.length - commits))
    if (to === undefined) return false
    this.values = new Map(to.values)
    this.#ledger = new Map(to.ledger)
    return true
  }

  /** Whether a later epoch has batches: so Redis, which is in this one, has come back with an old copy. */
  #isPast(epoch: number): boolean {
    return [...this.#ledger].some(([later, { seq }]) => later > epoch && seq > 0)
  }

  #commit(): void {
    this.#commits.push({ values: new Map(this.values), ledger: new Map(this.#ledger) })
  }

  read(epoch: number, ids: readonly string[]): Snapshot {
    const found = ids.flatMap((id) =>
      this.values.has(id) ? [[id, this.values.get(id) as bigint] as const] : [],
    )
    const seq = this.#ledger.get(epoch)?.seq ?? null
    return { seq, isPast: this.#isPast(epoch), values: new Map(found) }
  }

  apply({ epoch, seq, batch, changes }: Batch): Applied {
    const line = this.#ledger.get(epoch)
    if (this.without !== 'ledger') {
      const isIt = this.without === 'batch id' || line?.batch === batch
      if (line !== undefined && line.seq >= seq) return line.seq === seq && isIt ? 'known' : 'ahead'
      if (line?.seq !== seq - 1 || line.isClosed === true) return this.#isPast(epoch) ? 'ahead' : 'behind'
    }
    this.#commit()
    this.#ledger.set(epoch, { seq, batch })
    for (const { id, delta } of changes) this.values.set(id, (this.values.get(id) ?? 0n) + delta)
    return 'applied'
  }
}

/** The moment of a crash: with a transaction that is rolled back then, or after one whose answer is lost. */
export type Crash = 'before' | 'after' | null

/** The database as one process reaches it. `crashes` decides whether it does. */
export function sinkOf(database: Database, stage: Stage, owner: string, crashes: () => Crash): Sink {
  const ask = <Result>(what: string, work: () => Result): Promise<Result> =>
    stage.gate(owner, what, async () => {
      const crash = crashes()
      const cut = new SinkError('sink-unreachable', 'the connection was cut')
      if (crash === 'before') throw cut
      const result = work()
      if (crash === 'after') throw cut
      return result
    })
  const readTwice = async (epoch: number, ids: readonly string[]): Promise<Snapshot> => {
    const { seq } = await ask('sql read ledger', () => database.read(epoch, []))
    const { values } = await ask('sql read values', () => database.read(epoch, ids))
    return { seq, values }
  }
  return {
    name: 'memory',
    missing: 'create',
    prepare: async () => undefined,
    read: ({ epoch }: LedgerPlace, ids) =>
      database.without === 'snapshot'
        ? readTwice(epoch, ids)
        : ask('sql read', () => database.read(epoch, ids)),
    close: ({ epoch }) => ask('sql close', () => database.close(epoch)),
    begin: () => ask('sql begin', () => database.begin()),
    apply: (batch) => ask('sql apply', () => database.apply(batch)),
  }
}
