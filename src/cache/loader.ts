// What loads values: a function of the caller, for one key or for several at once, what it is given, and what becomes of a load.

import { InvalidArgumentError, MaxRunError } from '../runtime/errors/errors.ts'
import { type Freshness, toSpan, type Span } from './options.ts'
import { checkInteger, checkOptions } from '../runtime/values/arguments.ts'
import { startTimer } from '../runtime/time/timer.ts'

/** Makes the value of a key. `null` and `undefined`: there is none, which is kept too (`negativeTtl`). */
export type Loader<Value> = (context: LoadContext) => Value | Promise<Value>

/** What a loader may say of the value it has found. */
export interface Kept extends Freshness {
  /** As in `set`: refused when a greater one is known. */
  version?: number
}

/** What a loader is given. */
export class LoadContext {
  readonly key: string
  /** Greater than that of every earlier load of the key; 0 while Redis is away. */
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

  /** How long the value counts, and its version, where the loader knows better. Throws InvalidArgumentError. */
  keep(kept: Kept): void {
    checkOptions('kept', kept, ['ttl', 'staleWhileRevalidate', 'version'])
    toSpan(kept, { ttlMs: 0, staleWhileRevalidateMs: 0 })
    if (kept.version !== undefined) checkVersion(kept.version)
    this.#kept = kept
  }

  /** @internal What was said by `keep`. */
  kept(otherwise: Span): Span & { version: number } {
    return { ...toSpan(this.#kept, otherwise), version: this.#kept.version ?? 0 }
  }
}

/** Throws InvalidArgumentError. */
export function checkVersion(version: unknown): number {
  return checkInteger('version', version, 1, Number.MAX_SAFE_INTEGER)
}

/** What the work resolves to; rejects when `aborter` aborts, which it does with MaxRunError after `maxLoadMs`. */
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

/** What became of a load. */
export type LoadOutcome<Value> =
  /** `holds`: also for those who asked while it was under way. */
  | { readonly status: 'loaded'; readonly value: Value; readonly holds: boolean }
  | { readonly status: 'failed'; readonly error: unknown }
  /** Begin again. */
  | { readonly status: 'lost' }
  /** Another process is at it, or it rests after a failure: for so long. */
  | { readonly status: 'elsewhere'; readonly ms: number }
  /** Another process is still at it when the time is over. */
  | { readonly status: 'late' }

/** A load that others of this process may join. */
export interface Joinable<Value> {
  /** Rejects when the server cannot decide. */
  readonly outcome: Promise<LoadOutcome<Value>>
}

/** Who loads, and is told when that is not needed, or not at once. */
export interface LoadedBy<Value> {
  readonly loader: Loader<Value>
  passed(): void
}

/** Makes the values of several keys. A key that is not in the map has none, which is kept as `undefined`. */
export type ManyLoader<Value> = (
  keys: readonly string[],
  context: ManyContext,
) => ReadonlyMap<string, Value> | Promise<ReadonlyMap<string, Value>>

/** What a loader of several keys is given. */
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

/** Gathers the keys that this process loads, until it is known of each whether it does: then one call loads all of them. */
export class KeysToLoad<Value> {
  readonly #loadMany: ManyLoader<Value>
  readonly #undecided: Set<string>
  #elected: ElectedKey<Value>[] = []

  constructor(keys: readonly string[], loadMany: ManyLoader<Value>) {
    this.#loadMany = loadMany
    this.#undecided = new Set(keys)
  }

  /** How one of its keys is loaded. */
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

  /** Another process loads this key, or nobody has to. */
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

/** A Map, or what is as one. Throws InvalidArgumentError. */
function checkMap<Value>(values: ReadonlyMap<string, Value>): ReadonlyMap<string, Value> {
  const { get } = Object(values) as Partial<ReadonlyMap<string, Value>>
  if (typeof get !== 'function') throw new InvalidArgumentError('loadMany', 'must give a Map')
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
