import { checkFunction } from '../runtime/values/arguments.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { checkName } from '../runtime/values/keys.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { type DetachedLoad, loadDetached, type LoadDetachedOptions, LoadsByToken } from './detached.ts'
import { Get } from './get.ts'
import { KeysToLoad, type Loader, type ManyLoader } from './loader.ts'
import { type CacheInspection, type FoundValue, findValue, inspectKey } from './look.ts'
import { type CacheOptions, type GetOptions, type GetTerms, type SetOptions, toGetTerms } from './options.ts'
import { CacheSource } from './source.ts'
import { clearAll, type Invalidated, invalidateWhat, setValue, type WasSet } from './write.ts'

const MOST_KEYS = 1000

/** The L1: the copies in this process. */
export interface L1Inspection {
  /** The number of copies. */
  readonly count: number
  /** Their total size in bytes, as stored. */
  readonly bytes: number
}

/**
 * A cache for values that are expensive to make. One process loads a value on behalf of all callers, and a value in
 * use is refreshed before it expires. A hit is one plain GET.
 */
export class Cache<Value> {
  readonly name: string
  readonly #source: CacheSource<Value>
  /** @internal The server's time, as far as this process knows it. */
  readonly time: { readonly nowMs: number }
  /** The terms of a get without options, the usual case, made once. */
  readonly #usual: GetTerms

  constructor(runtime: Runtime, name: string, options: CacheOptions<Value> = {}) {
    this.#source = new CacheSource(runtime, name, options)
    this.#usual = toGetTerms({}, this.#source.terms)
    this.name = name
    const { clock } = runtime
    this.time = {
      get nowMs() {
        return clock.known ? clock.latestMs() : Date.now()
      },
    }
  }

  /**
   * The value of a key: the cached value, or the result of the loader. One loader per key runs at a time, across all
   * processes. While Redis is unavailable the loader answers without it.
   *
   * Throws WaitTimeoutError when no value is available after `wait`; the error of the loader; LoadFailedError when
   * the loader of another process failed; MaxRunError after `maxLoad`; InvalidArgumentError; or the signal's reason.
   */
  async get(key: string, loader: Loader<Value>, options?: GetOptions): Promise<Value> {
    const terms = options === undefined ? this.#usual : toGetTerms(options, this.#source.terms)
    checkFunction('loader', loader)
    const by = { loader, passed: nothing }
    return new Get(this.#source, checkName('key', key), terms, by).value()
  }

  /**
   * @internal Like `get`, for a loader that can run only while its caller waits for it: `passed` is called when it is
   * certain that this call will not refresh a value that was served from the cache.
   */
  async serve(
    key: string,
    loader: Loader<Value>,
    passed: () => void,
    options: GetOptions = {},
  ): Promise<Value> {
    const terms = toGetTerms(options, this.#source.terms)
    const absent = { loader, passed: nothing }
    return new Get(this.#source, checkName('key', key), terms, absent, { loader, passed }).value()
  }

  /**
   * The values of up to 1,000 keys, in the order of the keys. `loadMany` is called once with all keys that this
   * process has to load at first. Throws like `get`, for the first key with an error.
   */
  async getMany(
    keys: readonly string[],
    loadMany: ManyLoader<Value>,
    options: GetOptions = {},
  ): Promise<Map<string, Value>> {
    const terms = toGetTerms(options, this.#source.terms)
    checkFunction('loadMany', loadMany)
    const wanted = checkKeys(keys)
    const absent = new KeysToLoad<Value>(wanted, loadMany)
    const served = new KeysToLoad<Value>(wanted, loadMany)
    const values = await Promise.all(
      wanted.map((key) => new Get(this.#source, key, terms, absent.of(key), served.of(key)).value()),
    )
    return new Map(wanted.map((key, at) => [key, values[at] as Value]))
  }

  /**
   * Stores a value without a load. A load under way is revoked, because its value may be older. `stored` is false
   * when the same or a greater version is known. Throws InvalidArgumentError.
   */
  async set(key: string, value: Value, options: SetOptions = {}): Promise<WasSet> {
    return setValue(this.#source, key, value, options)
  }

  /** The cached value of a key; null when no value may be served. Never loads. */
  async getEntry(key: string): Promise<FoundValue<Value> | null> {
    return findValue(this.#source, checkName('key', key))
  }

  /**
   * Invalidates a key, up to 1,000 keys, or all values with a tag: a later get never returns a value made before.
   * Several keys are not invalidated in one step. Resolves to the number of values that existed; for a tag to null.
   */
  async invalidate(what: Invalidated): Promise<number | null> {
    return invalidateWhat(this.#source, what)
  }

  /**
   * Starts a detached load, for a loader outside this process such as the client of a service. Resolves to the cached
   * value, or elects the caller, which then ends the load with `byToken`; this process does not extend it. If no
   * value may be served, waits up to `wait` for a load under way. Throws InvalidArgumentError, DriverError, or the
   * signal's reason.
   */
  async loadDetached(key: string, options: LoadDetachedOptions = {}): Promise<DetachedLoad<Value>> {
    return loadDetached(this.#source, checkName('key', key), options)
  }

  /** Completes, extends and fails detached loads, also those of another process. */
  get byToken(): LoadsByToken<Value> {
    return new LoadsByToken(this.#source)
  }

  /**
   * Invalidates all keys: a later get never returns a value made before. Resolves after about a second, when every
   * process knows of it. The values use memory until their own expiry. Throws AmbiguousError when the instance closes
   * meanwhile.
   */
  async clear(): Promise<void> {
    return clearAll(this.#source)
  }

  /** The size of the L1 of this process; null without `l1`. */
  inspectL1(): L1Inspection | null {
    return this.#source.shared.level?.size ?? null
  }

  /** Reads the state of a key. */
  async inspect(key: string): Promise<CacheInspection> {
    return inspectKey(this.#source, checkName('key', key))
  }
}

function nothing(): void {}

/** Without duplicates. */
function checkKeys(keys: unknown): string[] {
  if (!Array.isArray(keys) || keys.length > MOST_KEYS) {
    throw new InvalidArgumentError('keys', `must be a list of at most ${MOST_KEYS} keys`)
  }
  return [...new Set(keys.map((key) => checkName('key', key)))]
}

export type { DetachedLoad, EndLoadOptions, LoadDetachedOptions, LoadsByToken } from './detached.ts'
export { type Kept, LoadContext, type Loader, type ManyContext, type ManyLoader } from './loader.ts'
export type { CacheInspection, FoundValue } from './look.ts'
export type {
  CacheEvent,
  CacheHooks,
  CacheOptions,
  Freshness,
  GetOptions,
  L1Options,
  ServedFrom,
  SetOptions,
} from './options.ts'
export type { Invalidated, WasSet } from './write.ts'
