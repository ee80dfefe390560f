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

/** The copies in this process. */
export interface L1Inspection {
  readonly count: number
  readonly bytes: number
}

/**
 * Values that cost something to make, kept for a while. One process loads a value on behalf of all that want
 * it; a value that is asked for is loaded again before it ends. A hit is one plain GET.
 */
export class Cache<Value> {
  readonly name: string
  readonly #source: CacheSource<Value>
  /** @internal What time it is for the server, as far as this process knows. */
  readonly time: { readonly nowMs: number }
  /** Of a get without options, made once: most are. */
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
   * The value of a key: what is kept, or what the loader makes, of which one runs at a time whoever asks. While
   * Redis is away the loader answers without it.
   *
   * Throws WaitTimeoutError when there is still no value after `wait`, what the loader throws,
   * LoadFailedError when that of another process failed, MaxRunError after `maxLoad`, InvalidArgumentError, or
   * the signal's reason.
   */
  async get(key: string, loader: Loader<Value>, options?: GetOptions): Promise<Value> {
    const terms = options === undefined ? this.#usual : toGetTerms(options, this.#source.terms)
    checkFunction('loader', loader)
    const by = { loader, passed: nothing }
    return new Get(this.#source, checkName('key', key), terms, by).value()
  }

  /**
   * @internal As `get`, for a loader that can run only as long as its caller has not gone on: `passed` is called when
   * it is known that a value which is served meanwhile will not be loaded by this call.
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
   * The values of up to 1,000 keys, in the order of the keys. `loadMany` is called once for all keys that this
   * process has to load at first. Throws as `get`, for the first key that does.
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
   * Stores a value without a load. A load that is under way is revoked: what it finds may be older. `stored` is
   * false when a version as great is known. Throws InvalidArgumentError.
   */
  async set(key: string, value: Value, options: SetOptions = {}): Promise<WasSet> {
    return setValue(this.#source, key, value, options)
  }

  /** What is kept of a key; null when there is nothing that may be served. It never loads. */
  async getEntry(key: string): Promise<FoundValue<Value> | null> {
    return findValue(this.#source, checkName('key', key))
  }

  /**
   * Forgets a key, up to 1,000 keys, or all values with a tag: whoever asks after that never gets what was made
   * before. Several keys are not forgotten in one step. Resolves to how many values there were, of a tag to null.
   */
  async invalidate(what: Invalidated): Promise<number | null> {
    return invalidateWhat(this.#source, what)
  }

  /**
   * For a load by somebody else, such as the client of a service: what is kept, or the election of the caller, who
   * ends the load with `byToken`. Nothing here extends it. Waits up to `wait` for a load that is under way,
   * where there is nothing to serve. Throws InvalidArgumentError, DriverError, or the signal's reason.
   */
  async loadDetached(key: string, options: LoadDetachedOptions = {}): Promise<DetachedLoad<Value>> {
    return loadDetached(this.#source, checkName('key', key), options)
  }

  /** Detached loads, for callers that know only their keys and tokens. */
  get byToken(): LoadsByToken<Value> {
    return new LoadsByToken(this.#source)
  }

  /**
   * Forgets all keys: whoever asks after that never gets what was made before. It takes a second, after which every process
   * knows of it. The values take memory until their own time ends.
   */
  async clear(): Promise<void> {
    return clearAll(this.#source)
  }

  /** How much of the cache this process has copies of; null without `l1`. */
  inspectL1(): L1Inspection | null {
    return this.#source.shared.level?.size ?? null
  }

  /** A read-only picture of a key. */
  async inspect(key: string): Promise<CacheInspection> {
    return inspectKey(this.#source, checkName('key', key))
  }
}

function nothing(): void {}

/** Each once. */
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
