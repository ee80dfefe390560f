import { checkOptions, checkText } from '../runtime/values/arguments.ts'
import { abortable } from '../runtime/time/in-time.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { checkSource, type ShownOptions } from './board.ts'
import type { OutboxSource } from './count-source.ts'
import { ShownCounters } from './derived.ts'
import { RefusedError, SinkError } from './errors.ts'
import { OneAtATime } from './one-at-a-time.ts'
import type { RolledRows } from './showing.ts'
import { sinkInTime } from './sink-in-time.ts'
import { checkId, checkIds } from './source.ts'
import { checkDelta } from './value.ts'

export interface DurableCountersOptions<Client> extends ShownOptions {
  /** Where changes wait that are not counted yet: `postgresOutbox(…)`, `mysqlOutbox(…)`, `sqliteOutbox(…)`. */
  outbox: OutboxSource<Client>
}

export interface Addition {
  id: string | number
  by?: number
  /** The change counts once, however often it comes with this key. */
  idempotencyKey: string
}

/** Values that are changed in the transactions of an SQL database: exact there, and shown by Redis. */
export class DurableCounters<Client> extends ShownCounters {
  readonly #outbox: OutboxSource<Client>
  readonly #purging: OneAtATime
  #isPrepared = false

  constructor(runtime: Runtime, name: string, options: DurableCountersOptions<Client>) {
    checkOptions('options', options, ['outbox', 'partitions', 'retention', 'batchSize'])
    const outbox = checkSource('outbox', options.outbox)
    super(runtime, name, outbox, options)
    this.#outbox = outbox
    this.#purging = new OneAtATime(this.deadlines)
  }

  /**
   * Changes a counter in your transaction: it counts if that commits. Resolves to false when the key is known, and then
   * changes nothing. Throws InvalidArgumentError, SinkError.
   */
  async add(client: Client, addition: Addition): Promise<boolean> {
    checkOptions('addition', addition, ['id', 'by', 'idempotencyKey'])
    const { id, by = 1, idempotencyKey } = addition
    const entry = {
      id: checkId('id', id),
      by: checkDelta('by', by),
      idempotencyKey: checkText('idempotencyKey', idempotencyKey, 255),
    }
    const deadline = this.deadline
    await this.#prepareFirst(deadline)
    return sinkInTime(this.#outbox.add(client, this.sqlName, entry), deadline, this.deadlines)
  }

  /** Where each connection of the pool has a transaction that comes here first, none is left to look at the tables with. */
  async #prepareFirst(by: number): Promise<void> {
    if (this.#isPrepared) return
    try {
      await sinkInTime(this.#outbox.prepare(), by, this.deadlines)
    } catch (error) {
      if (!(error instanceof SinkError && error.code === 'sink-unreachable')) throw error
      const cure = 'await prepare() before the first transaction, for it takes a connection of its own'
      throw new SinkError(error.code, `${error.message}: ${cure}`, { cause: error })
    }
    this.#isPrepared = true
  }

  /** Reads counts anew, and shows them: after somebody else has written the table. Throws SinkError. */
  async reconcile(ids: readonly (string | number)[]): Promise<void> {
    await this.round(checkIds(ids), false)
  }

  /** Also forgets idempotency keys that are old enough. */
  override async flush(options: { signal?: AbortSignal } = {}): Promise<RolledRows> {
    const purge = (): Promise<void> => abortable(() => this.#purge(options.signal), options.signal)
    try {
      const rolled = await super.flush(options)
      await purge()
      return rolled
    } catch (error) {
      if (error instanceof RefusedError) await purge()
      throw error
    }
  }

  async #purge(signal: AbortSignal | undefined): Promise<void> {
    const purge = (): Promise<boolean | null> => {
      const some = this.#purging.runUnlessBusy(() => this.#outbox.purge(this.sqlName))
      return sinkInTime(some, this.deadline, this.deadlines)
    }
    while (await purge()) signal?.throwIfAborted()
  }
}
