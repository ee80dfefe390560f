// The two kinds of rows that are counted: those of a table of the user's, and those of an outbox of ours.

import type { EventSource, OutboxEntry, OutboxSource } from '../counters/count-source.ts'
import { type Duration, toMs } from '../runtime/duration.ts'
import { InvalidArgumentError } from '../runtime/errors.ts'
import type { CountDialect, Events } from './count-dialect.ts'
import { SqlCounts } from './counts.ts'
import type { SqlRunner, SqlStore, Target } from './dialect.ts'
import { checkFits } from './target.ts'

export class SqlEvents extends SqlCounts implements EventSource {
  readonly kind = 'events'

  /** Throws InvalidArgumentError. */
  constructor(store: SqlStore, counting: CountDialect, events: Events, target: Target) {
    super(store, counting, events, target, 'target.')
  }
}

export interface OutboxOptions extends Target {
  /** How long a token is known after it was written; default 24 hours. */
  readonly rememberFor?: Duration
}

const MOST_PURGED = 1000

export class SqlOutbox<Client> extends SqlCounts implements OutboxSource<Client> {
  readonly kind = 'outbox'
  readonly #counting: CountDialect
  readonly #rememberMs: number
  readonly #runnerOf: (client: Client) => SqlRunner
  readonly #method: string

  /** Throws InvalidArgumentError. */
  constructor(
    store: SqlStore,
    counting: CountDialect,
    { rememberFor = '24h', ...target }: OutboxOptions,
    runnerOf: (client: Client) => SqlRunner,
    method: 'query' | 'prepare',
  ) {
    super(store, counting, counting.outboxEvents, target, '')
    this.#counting = counting
    this.#rememberMs = toMs('rememberFor', rememberFor)
    this.#runnerOf = runnerOf
    this.#method = method
  }

  async add(client: Client, counters: string, entry: OutboxEntry): Promise<boolean> {
    const { place } = await this.ready()
    checkFits(this.access, place.table, place.idColumn, entry.id)
    if (typeof (client as Record<string, unknown> | null)?.[this.#method] !== 'function') {
      throw new InvalidArgumentError('client', `must be what your transaction of ${this.name} has`)
    }
    return this.access.told(() => this.#counting.add(this.#runnerOf(client), counters, entry))
  }

  async purge(counters: string): Promise<boolean> {
    await this.ready()
    const old = this.#counting.purge(counters, this.#rememberMs, MOST_PURGED)
    return (await this.access.change(old)) === MOST_PURGED
  }
}
