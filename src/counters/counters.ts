import { clear } from '../generated/counters.ts'
import { checkInteger, checkOptions, checkText } from '../runtime/values/arguments.ts'
import { type Duration, toMs } from '../runtime/values/duration.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { abortable } from '../runtime/time/in-time.ts'
import { checkName } from '../runtime/values/keys.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { type Flushed, flushAll } from './flush.ts'
import { Flushing } from './flush-loop.ts'
import { type Counted, Incrementer, isCounted } from './increment.ts'
import { type CountersInspection, inspectPartitions, readValues, reconcileValues } from './read.ts'
import { KeptRefusals, type RefusedCount } from './refusals.ts'
import type { Sink } from './sink.ts'
import {
  checkId,
  checkIds,
  checkSink,
  forgetEpoch,
  type Loss,
  openSource,
  type CountersSource,
} from './source.ts'
import type { CounterChange } from './sums.ts'
import { type CounterValue, checkDelta } from './value.ts'

export interface CountersOptions {
  /** The database that stores the counters: `sqlite(…)`, `postgres(…)`, `mysql(…)`. */
  sink: Sink
  /**
   * Hash tags, and so cluster slots, over which the counters are spread by their ids, 1 to 256. All processes must use
   * the same number; it can only change after `clear()`. Default: 1.
   */
  partitions?: number
  /**
   * How long a value stays in Redis after its last increment was flushed, 1 ms to 3,650 days, or `'forever'`. Default:
   * 10 minutes.
   */
  retention?: Duration | 'forever'
  /**
   * Largest number of counters of a partition that may wait for the database and are in no batch, 1 to 10,000,000;
   * increments of more throw BacklogError. Without a limit, Redis needs memory for all of them while the database is
   * away. Default: no limit.
   */
  mostDirty?: number
  /** How long an idempotency key is remembered, 1 ms to 3,650 days. Default: 24 hours. */
  idempotencyTtl?: Duration
  /** Largest number of counters in a batch, 1 to 1,000. Default: 1,000. */
  batchSize?: number
  /**
   * How long a sealed batch waits before it is committed, so that a restart of Redis cannot lose it any more: two fsync
   * periods, 0 to 24 days. Use `'0s'` for `appendfsync always`, and where Redis keeps nothing on disk. Default: 2
   * seconds, for `appendfsync everysec`.
   */
  fsyncGrace?: Duration
  /** Called when Redis has lost increments that had not reached the database. */
  onLoss?: (loss: Loss) => void
}

export interface IncrementOptions {
  /** The increment counts once, however often it is sent with this key; 1 to 255 bytes of UTF-8. */
  idempotencyKey?: string
}

export interface IncrementItem extends IncrementOptions {
  id: string | number
  by?: number
}

/** Values that Redis counts and an SQL database stores. Each increment reaches the database exactly once. */
export class Counters {
  readonly name: string
  readonly #source: CountersSource
  readonly #incrementer: Incrementer
  readonly #refusals: KeptRefusals

  constructor(runtime: Runtime, name: string, options: CountersOptions) {
    checkOptions('options', options, [
      'sink',
      'partitions',
      'retention',
      'idempotencyTtl',
      'mostDirty',
      'batchSize',
      'fsyncGrace',
      'onLoss',
    ])
    const {
      partitions = 1,
      retention = '10m',
      idempotencyTtl = '24h',
      batchSize = 1000,
      fsyncGrace = '2s',
    } = options
    this.name = checkName('name', name)
    const terms = {
      partitions: checkInteger('partitions', partitions, 1, 256),
      retainMs: retention === 'forever' ? 0 : toMs('retention', retention),
      idempotencyTtlMs: toMs('idempotencyTtl', idempotencyTtl),
      mostDirty:
        options.mostDirty === undefined ? 0 : checkInteger('mostDirty', options.mostDirty, 1, 10_000_000),
      batchSize: checkInteger('batchSize', batchSize, 1, 1000),
      settleMs: toMs('fsyncGrace', fsyncGrace, { min: '0ms', max: '24d' }),
    }
    this.#source = openSource(runtime, this.name, checkSink(options.sink), terms, options.onLoss)
    this.#incrementer = new Incrementer(this.#source)
    this.#refusals = new KeptRefusals(runtime)
  }

  /**
   * Adds to a counter and resolves to its value after that. A counter that is not in Redis is loaded first. `by`: a
   * whole number between -2^53 and 2^53.
   *
   * Throws InvalidArgumentError; OverflowError if the value would leave 64 bits; BacklogError if `mostDirty` other
   * counters wait; UnknownCounterError if the database does not have the counter and `missing` is `'refuse'`; SinkError
   * if the value must be loaded and the database is away; AmbiguousError if the increment may have happened.
   */
  async increment(id: string | number, by = 1, options?: IncrementOptions): Promise<CounterValue> {
    if (options !== undefined) checkOptions('options', options, ['idempotencyKey'])
    const asked = toIncrement(id, by, options?.idempotencyKey, '')
    const outcome = await this.#incrementer.try(asked)
    if (isCounted(outcome)) return outcome.value
    return (await this.#incrementer.tryAgain(asked, outcome)).value
  }

  /**
   * Adds to up to 1,000 counters, each independently; the call is not atomic. Resolves to one result per item, in their
   * order; an item that failed has an Error in its place.
   */
  async incrementMany(items: readonly IncrementItem[]): Promise<(Counted | Error)[]> {
    if (!Array.isArray(items)) throw new InvalidArgumentError('items', 'must be an array')
    checkInteger('items.length', items.length, 0, 1000)
    const asked = items.map((item, at) => {
      checkOptions(`items[${at}]`, item, ['id', 'by', 'idempotencyKey'])
      const { id, by = 1, idempotencyKey } = item
      return toIncrement(id, by, idempotencyKey, `items[${at}].`)
    })
    const settled = await Promise.allSettled(asked.map((each) => this.#incrementer.increment(each)))
    return settled.map((each) => (each.status === 'fulfilled' ? each.value : (each.reason as Error)))
  }

  /**
   * The value of a counter. If neither Redis nor the database has it: 0, or null with `missing: 'refuse'`. Throws
   * SinkError.
   */
  async get(id: string | number): Promise<CounterValue | null> {
    const [value = null] = await readValues(this.#source, [checkId('id', id)])
    return value
  }

  /** The values in the order of the ids, each as `get` returns it. Throws SinkError. */
  async getMany(ids: readonly (string | number)[]): Promise<(CounterValue | null)[]> {
    return readValues(this.#source, checkIds(ids))
  }

  /**
   * Writes the increments that are pending now to the database. Throws SinkError, DriverError or AmbiguousError; the
   * call is safe to repeat. Throws RefusedError if the database refused rows of some counters: all others are written,
   * and the refused increments are kept and retried.
   */
  async flush(options: { signal?: AbortSignal } = {}): Promise<Flushed> {
    checkOptions('options', options, ['signal'])
    return abortable(() => flushAll(this.#source, this.#refusals, options.signal), options.signal)
  }

  /**
   * Flushes periodically until the returned object is closed. Errors go to `onError`, and the next round tries again.
   * `every`: 1 ms to 24 days.
   */
  flushEvery(every: Duration, options: { onError?: (error: unknown) => void } = {}): Flushing {
    checkOptions('options', options, ['onError'])
    const flush = (signal: AbortSignal): Promise<Flushed> => flushAll(this.#source, this.#refusals, signal)
    return new Flushing(this.#source.runtime, flush, toMs('every', every, { max: '24d' }), options.onError)
  }

  /** Updates values in Redis after another program has written to the table. Throws SinkError. */
  async reconcile(ids: readonly (string | number)[]): Promise<void> {
    const by = performance.now() + this.#source.runtime.runner.deadlineMs
    await reconcileValues(this.#source, checkIds(ids), by)
  }

  /** Increments that the database has refused and not accepted since, of at most 1,000 counters. Throws SinkError. */
  async refused(): Promise<RefusedCount[]> {
    const { sink, ledgerName } = this.#source
    return this.#refusals.list(sink, ledgerName)
  }

  /** A read-only snapshot of what Redis holds and what has not reached the database. */
  async inspect(): Promise<CountersInspection> {
    return inspectPartitions(this.#source)
  }

  /** Deletes all values in Redis, including increments that are not flushed. Resolves to false if there was nothing. */
  async clear(): Promise<boolean> {
    const { number, partitions } = this.#source
    const existed = await number.clear(async () => {
      const answers = await Promise.all(partitions.map(({ unit }) => unit.run(clear, {})))
      return answers.map(({ status }) => status === 'cleared')
    })
    for (const partition of partitions) forgetEpoch(partition)
    return existed
  }
}

function toIncrement(
  id: string | number,
  by: number,
  idempotencyKey: string | undefined,
  prefix: string,
): CounterChange {
  return {
    id: checkId(`${prefix}id`, id),
    delta: checkDelta(`${prefix}by`, by),
    key: idempotencyKey === undefined ? '' : checkText(`${prefix}idempotencyKey`, idempotencyKey, 255),
  }
}
