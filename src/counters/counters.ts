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
import type { RefusedCount } from './refusals.ts'
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
  /** Where the counters are kept for good: `sqlite(…)`, `postgres(…)`, `mysql(…)`. */
  sink: Sink
  /** Hash tags, and so slots, that they are spread over, 1 to 256; the same for all processes, for ever. Default 1. */
  partitions?: number
  /** How long a value stays in Redis after its last increment was flushed; default 10 minutes. */
  retention?: Duration | 'forever'
  /**
   * Counters of a partition that may wait for the database, 1 to 10,000,000; increments of more are refused. Default: any
   * number, which Redis needs the memory for while the database is away.
   */
  mostDirty?: number
  /** How long an idempotency key is remembered; default 24 hours. */
  idempotencyTtl?: Duration
  /** Counters of a batch, 1 to 1,000; default 1,000. */
  batchSize?: number
  /**
   * How long a sealed batch is left alone until a restart of Redis cannot lose it any more: twice the time between two
   * fsyncs. Default 2 seconds, for `appendfsync everysec`; `'0s'` for `appendfsync always` and where nothing is kept.
   */
  fsyncGrace?: Duration
  /** Told when Redis has lost increments that were not in the database yet. */
  onLoss?: (loss: Loss) => void
}

export interface IncrementOptions {
  /** The increment counts once, however often it comes with this key. */
  idempotencyKey?: string
}

export interface IncrementItem extends IncrementOptions {
  id: string | number
  by?: number
}

/** Values that Redis counts and an SQL database keeps: each increment arrives there exactly once. */
export class Counters {
  readonly name: string
  readonly #source: CountersSource
  readonly #incrementer: Incrementer

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
  }

  /**
   * Adds to a counter and resolves to its value after that. A counter that is not in Redis is loaded first.
   *
   * Throws InvalidArgumentError; OverflowError when it would leave 64 bits; BacklogError when `mostDirty` others wait;
   * UnknownCounterError where the sink refuses
   * counters that it does not have; SinkError when the value has to be loaded and the database is away; AmbiguousError
   * when it may have happened.
   */
  async increment(id: string | number, by = 1, options?: IncrementOptions): Promise<CounterValue> {
    if (options !== undefined) checkOptions('options', options, ['idempotencyKey'])
    const asked = toIncrement(id, by, options?.idempotencyKey, '')
    const outcome = await this.#incrementer.try(asked)
    if (isCounted(outcome)) return outcome.value
    return (await this.#incrementer.tryAgain(asked, outcome)).value
  }

  /**
   * Adds to up to 1,000 counters, each by itself; they are not one step. Resolves to what became of each, in their order;
   * an error stands in the place of one that was not counted.
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

  /** The value of a counter; of one that neither Redis nor the database has 0, or null with `missing: 'refuse'`. Throws SinkError. */
  async get(id: string | number): Promise<CounterValue | null> {
    const [value = null] = await readValues(this.#source, [checkId('id', id)])
    return value
  }

  /** Values in the order of the ids, as `get` has them. Throws SinkError. */
  async getMany(ids: readonly (string | number)[]): Promise<(CounterValue | null)[]> {
    return readValues(this.#source, checkIds(ids))
  }

  /**
   * Brings what is pending now into the database. Throws SinkError, DriverError or AmbiguousError; the same again is safe. Throws RefusedError where
   * the database refused rows of some counters: it has all others, and what these were to get is kept, and tried again.
   */
  async flush(options: { signal?: AbortSignal } = {}): Promise<Flushed> {
    checkOptions('options', options, ['signal'])
    return abortable(() => flushAll(this.#source, options.signal), options.signal)
  }

  /** Flushes again and again, until what it answers is closed. Errors go to `onError`, and the next round tries again. */
  flushEvery(every: Duration, options: { onError?: (error: unknown) => void } = {}): Flushing {
    checkOptions('options', options, ['onError'])
    const flush = (signal: AbortSignal): Promise<Flushed> => flushAll(this.#source, signal)
    return new Flushing(this.#source.runtime, flush, toMs('every', every, { max: '24d' }), options.onError)
  }

  /** Puts values in Redis right after somebody else has written the database. Throws SinkError. */
  async reconcile(ids: readonly (string | number)[]): Promise<void> {
    const by = performance.now() + this.#source.runtime.runner.deadlineMs
    await reconcileValues(this.#source, checkIds(ids), by)
  }

  /** What the database has refused and not taken since, of 1,000 counters at most. Throws SinkError. */
  async refused(): Promise<RefusedCount[]> {
    const { refusals, sink, ledgerName } = this.#source
    return refusals.list(sink, ledgerName)
  }

  /** A read-only picture: what is here, and what has not reached the database. */
  async inspect(): Promise<CountersInspection> {
    return inspectPartitions(this.#source)
  }

  /** Forgets all values in Redis, and what has not been flushed. Resolves to false when there was nothing. */
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
