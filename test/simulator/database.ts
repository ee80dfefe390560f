// A database as counters see it, in memory: transactions happen at once or not at all. It may crash before or after
// one, and the caller cannot distinguish the two.

import { SinkError } from '../../src/counters/errors.ts'
import type { Applied, Batch, LedgerPlace, Sink, Snapshot } from '../../src/counters/sink.ts'
import type { Rule } from './rules.ts'
import type { Stage } from './stage.ts'

export class Database {
  readonly values: Map<string, bigint> = new Map()
  readonly #ledger = new Map<number, { seq: number; batch: string }>()
  readonly without: Rule | null

  constructor(without: Rule | null) {
    this.without = without
  }

  begin(): number {
    const epoch = Math.max(0, ...this.#ledger.keys()) + 1
    this.#ledger.set(epoch, { seq: 0, batch: '' })
    return epoch
  }

  read(epoch: number, ids: readonly string[]): Snapshot {
    const found = ids.flatMap((id) =>
      this.values.has(id) ? [[id, this.values.get(id) as bigint] as const] : [],
    )
    return { seq: this.#ledger.get(epoch)?.seq ?? null, values: new Map(found) }
  }

  apply({ epoch, seq, batch, changes }: Batch): Applied {
    const line = this.#ledger.get(epoch)
    if (this.without !== 'ledger') {
      if (line === undefined || line.seq < seq - 1) return 'behind'
      const isIt = this.without === 'batch id' || line.batch === batch
      if (line.seq >= seq) return line.seq === seq && isIt ? 'known' : 'ahead'
    }
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
      const result = crash === 'before' ? null : work()
      if (result === null || crash !== null) {
        throw new SinkError('sink-unreachable', 'the connection was cut')
      }
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
    begin: () => ask('sql begin', () => database.begin()),
    apply: (batch) => ask('sql apply', () => database.apply(batch)),
  }
}
