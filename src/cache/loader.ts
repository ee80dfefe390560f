// Loaders: functions of the caller for one key or several, their arguments, and the outcomes of a load.

import { InvalidArgumentError, MaxRunError } from '../runtime/errors/errors.ts'
import { type Freshness, toSpan, type Span } from './options.ts'
import { checkInteger, checkOptions } from '../runtime/values/arguments.ts'
import { startTimer } from '../runtime/time/timer.ts'

/**
 * Makes the value of a key. `null` or `undefined` means that there is no value, which is cached too (`negativeTtl`).
 */
export type Loader<Value> = (context: LoadContext) => Value | Promise<Value>

/** Options for `keep`: what only the loader knows of its value. */
export interface Kept extends Freshness {
  /** The version of the value, as in `set`: refused when a greater one is known. Default: none. */
  version?: number
}

/** The argument of a loader. */
export class LoadContext {
  readonly key: string
  /** Greater than that of every earlier load of the key; 0 while Redis is unavailable. */
  readonly token: number
  readonly #signal: () => AbortSignal
  #kept: Kept = {}

  constructor(key: string, token: number, signal: () => AbortSignal) {
    this.key = key
    this.token = token
    this.#signal = signal
  }

  /** Aborts when the load takes longer than `maxLoad`, when its lease is lost, and soon after an invalidation. */
  get signal(): AbortSignal {
    return this.#signal()
  }

  /** Sets the TTL and the version of the value, instead of those of the call. Throws InvalidArgumentError. */
  keep(kept: Kept): void {
    checkOptions('kept', kept, ['ttl', 'staleWhileRevalidate', 'version'])
    toSpan(kept, { ttlMs: 0, staleWhileRevalidateMs: 0 })
    if (kept.version !== undefined) checkVersion(kept.version)
    this.#kept = kept
  }

  /** @internal The terms set by `keep`, or `otherwise`. */
  kept(otherwise: Span): Span & { version: number } {
    return { ...toSpan(this.#kept, otherwise), version: this.#kept.version ?? 0 }
  }
}

/** Throws InvalidArgumentError. */
export function checkVersion(version: unknown): number {
  return checkInteger('version', version, 1, Number.MAX_SAFE_INTEGER)
}

/** Settles like the work; rejects when `aborter` aborts. Aborts it with MaxRunError after `maxLoadMs`. */
export function inMaxLoad<Value>(
  work: () => Value | Promise<Value>,
  maxLoadMs: number,
  aborter: AbortController,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = startTimer(() => aborter.abort(new MaxRunError(maxLoadMs)), maxLoadMs)
    const abort = (): void => {
      timer.cancel()
      reject(aborter.signal.reason)
    }
    aborter.signal.addEventListener('abort', abort, { once: true })
    const working = new Promise<Value>((begun) => begun(work()))
    working.then(resolve, reject).finally(() => timer.cancel())
  })
}

/** The outcome of a load. */
export type LoadOutcome<Value> =
  /** `holds`: the value is also valid for callers that asked while the load was under way. */
  | { readonly status: 'loaded'; readonly value: Value; readonly holds: boolean }
  | { readonly status: 'failed'; readonly error: unknown }
  /** The caller must begin again. */
  | { readonly status: 'lost' }
  /** For `ms` another process loads, or no load is tried after a failure. */
  | { readonly status: 'elsewhere'; readonly ms: number }
  /** Another process still loads when the waiting time is over. */
  | { readonly status: 'late' }

/** A load that other callers of this process may join. */
export interface Joinable<Value> {
  /** Rejects when the server cannot decide. */
  readonly outcome: Promise<LoadOutcome<Value>>
}

/** A loader; `passed` is called when it is not needed, or not at once. */
export interface LoadedBy<Value> {
  readonly loader: Loader<Value>
  passed(): void
}

/** Makes the values of several keys. A key missing in the map has no value, which is cached as `undefined`. */
export type ManyLoader<Value> = (
  keys: readonly string[],
  context: ManyContext,
) => ReadonlyMap<string, Value> | Promise<ReadonlyMap<string, Value>>

/** The second argument of a loader for several keys. */
export interface ManyContext {
  /** Aborts when none of the values is wanted any more. */
  readonly signal: AbortSignal
}

/** One of several keys, for which this process was elected. */
interface ElectedKey<Value> {
  readonly key: string
  readonly context: LoadContext
  resolve(value: Value): void
  reject(error: unknown): void
}

/** Collects the keys that this process must load; when every key is decided, one call loads all of them. */
export class KeysToLoad<Value> {
  readonly #loadMany: ManyLoader<Value>
  readonly #undecided: Set<string>
  #elected: ElectedKey<Value>[] = []

  constructor(keys: readonly string[], loadMany: ManyLoader<Value>) {
    this.#loadMany = loadMany
    this.#undecided = new Set(keys)
  }

  /** The loader for one of the keys. */
  of(key: string): LoadedBy<Value> {
    return { loader: (context) => this.#join(context), passed: () => this.#pass(key) }
  }

  #join(context: LoadContext): Promise<Value> {
    return new Promise((resolve, reject) => {
      this.#elected.push({ key: context.key, context, resolve, reject })
      this.#undecided.delete(context.key)
      this.#loadSoon()
    })
  }

  /** Another process loads this key, or no load is needed. */
  #pass(key: string): void {
    if (this.#undecided.delete(key)) this.#loadSoon()
  }

  #loadSoon(): void {
    if (this.#undecided.size === 0) process.nextTick(() => void this.#load())
  }

  async #load(): Promise<void> {
    const elected = this.#elected
    this.#elected = []
    if (elected.length === 0) return
    try {
      const keys = elected.map(({ key }) => key)
      const values = checkMap(await this.#loadMany(keys, { signal: whenAllAbort(elected) }))
      for (const { key, resolve } of elected) resolve(values.get(key) as Value)
    } catch (error) {
      for (const { reject } of elected) reject(error)
    }
  }
}

/** Accepts a Map or an object with its `get`. Throws InvalidArgumentError. */
function checkMap<Value>(values: ReadonlyMap<string, Value>): ReadonlyMap<string, Value> {
  const { get } = Object(values) as Partial<ReadonlyMap<string, Value>>
  if (typeof get !== 'function') throw new InvalidArgumentError('loadMany', 'must return a Map')
  return values
}

function whenAllAbort(elected: readonly ElectedKey<unknown>[]): AbortSignal {
  const aborter = new AbortController()
  let left = elected.length
  for (const { context } of elected) {
    const { signal } = context
    const abort = (): void => {
      left -= 1
      if (left === 0) aborter.abort(signal.reason)
    }
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  }
  return aborter.signal
}
