// The two sources of rows to count: a table of the user, and an outbox of Perilune.

import type { EventSource, OutboxEntry, OutboxSource } from '../../counters/count-source.ts'
import { checkOptions } from '../../runtime/values/arguments.ts'
import { type Duration, toMs } from '../../runtime/values/duration.ts'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import type { CountDialect, EventsOptions } from './count-dialect.ts'
import { SqlCounts } from './counts.ts'
import type { SqlRunner, SqlStore, Target } from './dialect.ts'
import { checkFits, TARGET_OPTIONS } from './target.ts'

export class SqlEvents extends SqlCounts implements EventSource {
  readonly kind = 'events'

  /** Throws InvalidArgumentError. */
  constructor(store: SqlStore, counting: CountDialect, options: EventsOptions) {
    super(store, counting, counting.eventsOf(options), options.target, 'target.')
  }
}

export interface OutboxOptions extends Target {
  /** How long an idempotency key is remembered after it was written, 1 ms to 3,650 days. Default: 24 hours. */
  readonly idempotencyTtl?: Duration
}

/** Wraps the user's transaction object to run statements; null if it is of another kind. */
export type RunnerOf<Client> = (client: Client) => SqlRunner | null

/** Whether a client has the method that identifies it. */
export function has(client: unknown, method: string): boolean {
  return typeof (client as Record<string, unknown> | null)?.[method] === 'function'
}

const MOST_PURGED = 1000

export class SqlOutbox<Client> extends SqlCounts implements OutboxSource<Client> {
  readonly kind = 'outbox'
  readonly #counting: CountDialect
  readonly #rememberMs: number
  readonly #runnerOf: RunnerOf<Client>

  /** Throws InvalidArgumentError. */
  constructor(store: SqlStore, counting: CountDialect, options: OutboxOptions, runnerOf: RunnerOf<Client>) {
    checkOptions('options', options, [...TARGET_OPTIONS, 'idempotencyTtl'])
    const { idempotencyTtl = '24h', ...target } = options
    super(store, counting, counting.outboxEvents, target, '')
    this.#counting = counting
    this.#rememberMs = toMs('idempotencyTtl', idempotencyTtl)
    this.#runnerOf = runnerOf
  }

  add(client: Client, counters: string, entry: OutboxEntry): Promise<boolean> {
    return this.known.useOnce(async ({ place }) => {
      checkFits(this.access, place.table, place.idColumn, entry.id)
      const runner = this.#runnerOf(client)
      if (runner === null) {
        throw new InvalidArgumentError(
          'client',
          `must be the object with which your transaction of ${this.name} runs statements`,
        )
      }
      return this.access.inUserTransaction(() =>
        this.#counting.add(runner, place.found.schema, counters, entry),
      )
    })
  }

  purge(counters: string): Promise<boolean> {
    return this.known.use(async ({ place }) => {
      const old = this.#counting.purge(place.found.schema, counters, this.#rememberMs, MOST_PURGED)
      return (await this.access.change(old)) === MOST_PURGED
    })
  }
}
