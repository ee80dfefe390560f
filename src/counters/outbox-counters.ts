// Counters of an outbox: the rows that SQL counts are written by the library, in transactions of the user.

import { checkOptions, checkText } from '../runtime/values/arguments.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { abortable } from '../runtime/time/in-time.ts'
import { checkSource, type DatabaseCountersOptions } from './board.ts'
import type { OutboxSource } from './count-source.ts'
import { DatabaseCounters } from './database-counters.ts'
import { SinkError } from './errors.ts'
import { RefusedError } from './refusals.ts'
import type { RolledRows } from './rounds.ts'
import { OneAtATime, sinkInTime } from './sink-calls.ts'
import { checkId, checkIds } from './source.ts'
import { checkDelta } from './value.ts'

export interface OutboxCountersOptions<Client> extends DatabaseCountersOptions {
  /**
   * The outbox that stores changes until they are counted: `postgresOutbox(…)`, `mysqlOutbox(…)`, `sqliteOutbox(…)`.
   */
  outbox: OutboxSource<Client>
}

export interface Addition {
  id: string | number
  by?: number
  /** The change counts once, however often it is sent with this key; 1 to 255 bytes of UTF-8. */
  idempotencyKey: string
}

/** Values that change in transactions of an SQL database: exact in the database, and shown by Redis. */
export class OutboxCounters<Client> extends DatabaseCounters {
  readonly #outbox: OutboxSource<Client>
  readonly #purging: OneAtATime
  #isPrepared = false

  constructor(runtime: Runtime, name: string, options: OutboxCountersOptions<Client>) {
    checkOptions('options', options, ['outbox', 'partitions', 'retention', 'batchSize'])
    const outbox = checkSource('outbox', options.outbox)
    super(runtime, name, outbox, options)
    this.#outbox = outbox
    this.#purging = new OneAtATime(this.deadlines)
  }

  /**
   * Changes a counter in your transaction; the change takes effect with its commit. Resolves to false, without a
   * change, if the idempotency key is known. Throws InvalidArgumentError, SinkError.
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

  /**
   * If every connection of the pool has a transaction that calls `add` first, no connection is left to inspect the
   * tables.
   */
  async #prepareFirst(by: number): Promise<void> {
    if (this.#isPrepared && !this.place.isDue) return
    try {
      await this.comparePlace(by)
      await sinkInTime(this.#outbox.prepare(), by, this.deadlines)
    } catch (error) {
      if (!(error instanceof SinkError && error.code === 'sink-unreachable')) throw error
      const cure = 'await prepare() before the first transaction, for it takes a connection of its own'
      throw new SinkError(error.code, `${error.message}: ${cure}`, { cause: error })
    }
    this.#isPrepared = true
  }

  /** Reads counts again and shows them; for use after another program has written to the table. Throws SinkError. */
  async reconcile(ids: readonly (string | number)[]): Promise<void> {
    await this.round(checkIds(ids), false)
  }

  /** Also deletes idempotency keys that have expired. */
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
