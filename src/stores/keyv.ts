// A store for Keyv 5, and so for cache-manager 7, on a cache. Keyv puts its namespace before each key. Here the
// namespace is a tag as well, so that it is cleared in one step, in every slot.

import { EventEmitter } from 'node:events'
import type { Cache, SetOptions } from '../cache/cache.ts'
import { checkOptions } from '../runtime/values/arguments.ts'
import { type Duration, toMs } from '../runtime/values/duration.ts'
import { fitName } from '../runtime/values/fit-name.ts'
import { keptFor, LONGEST } from './kept-for.ts'

export interface KeyvStoreOptions {
  /** How long a value without a TTL is kept; default 25 days, which is also the maximum of any TTL. */
  ttl?: Duration
}

/** The part of a cache that the store uses. Keyv passes text, or objects when its serialization is off. */
export type KeyvCache = Pick<Cache<unknown>, 'getEntry' | 'invalidate'> & {
  set(key: string, value: never, options: SetOptions): Promise<unknown>
}

const MOST_KEYS = 1000
const LONGEST_TAG = 255

/** One per Keyv, because the store holds its namespace. */
export class KeyvStore extends EventEmitter {
  /** Required by Keyv. */
  readonly opts: { readonly dialect: string } = { dialect: 'perilune' }
  /** Set by Keyv. */
  namespace: string | undefined = undefined
  readonly #cache: KeyvCache
  readonly #expireMs: number

  constructor(cache: KeyvCache, options: KeyvStoreOptions = {}) {
    super()
    checkOptions('options', options, ['ttl'])
    this.#cache = cache
    this.#expireMs = toMs('ttl', options.ttl ?? LONGEST, { max: LONGEST })
  }

  /** The value; undefined when there is none. Keyv ignores a rejection, so the error is emitted as an event too. */
  async get<Value>(key: string): Promise<Value | undefined> {
    try {
      return await this.#find<Value>(key)
    } catch (error) {
      this.#report(error)
      throw error
    }
  }

  /**
   * The values in the order of the keys; undefined when there is none, or on an error, which is emitted as an event.
   */
  async getMany<Value>(keys: string[]): Promise<(Value | undefined)[]> {
    return this.#each(keys, (key) => this.#find<Value>(key), undefined)
  }

  /** `ttl` in milliseconds; 0 or none: the option `ttl`. */
  async set(key: string, value: unknown, ttl?: number): Promise<boolean> {
    const ms = ttl || this.#expireMs
    if (ms < 0) await this.delete(key)
    else await this.#keep(key, value, ms)
    return true
  }

  /** False when there was no value. */
  async delete(key: string): Promise<boolean> {
    return this.deleteMany([key])
  }

  /** True when at least one value existed. */
  async deleteMany(keys: string[]): Promise<boolean> {
    let deleted = 0
    for (let at = 0; at < keys.length; at += MOST_KEYS) {
      const part = keys.slice(at, at + MOST_KEYS).map((key) => fitName(key))
      // A cleared value is in Redis until its own time ends: that it was deleted does not show that it existed.
      const found = await Promise.all(part.map((key) => this.#cache.getEntry(key)))
      const removed = (await this.#cache.invalidate(part)) ?? 0
      deleted += Math.min(removed, found.filter((each) => each !== null).length)
    }
    return deleted > 0
  }

  /** Whether a value exists and has not expired; false on an error, which is emitted as an event. */
  async has(key: string): Promise<boolean> {
    return (await this.hasMany([key]))[0] ?? false
  }

  /** Like `has`, in the order of the keys. */
  async hasMany(keys: string[]): Promise<boolean[]> {
    return this.#each(keys, async (key) => (await this.#cache.getEntry(fitName(key))) !== null, false)
  }

  /** Deletes everything in this namespace, in one step. */
  async clear(): Promise<void> {
    await this.#cache.invalidate({ tag: this.#tag })
  }

  get #tag(): string {
    return fitName(`keyv:${this.namespace ?? ''}`, LONGEST_TAG)
  }

  /** Keyv does not expect these to reject. An error of several keys is emitted once. */
  async #each<Result>(
    keys: string[],
    ask: (key: string) => Promise<Result>,
    otherwise: Result,
  ): Promise<Result[]> {
    const asked = await Promise.allSettled(keys.map(ask))
    const failed = asked.find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') this.#report(failed.reason)
    return asked.map((one) => (one.status === 'fulfilled' ? one.value : otherwise))
  }

  #report(error: unknown): void {
    if (this.listenerCount('error') > 0) this.emit('error', error)
  }

  async #find<Value>(key: string): Promise<Value | undefined> {
    return (await this.#cache.getEntry(fitName(key)))?.value as Value | undefined
  }

  async #keep(key: string, value: unknown, ms: number): Promise<void> {
    const options: SetOptions = { ttl: keptFor(ms), staleWhileRevalidate: '0s', tags: [this.#tag] }
    await this.#cache.set(fitName(key), value as never, options)
  }
}

/** `new Keyv({ store: keyvStore(redis.cache<string>('sessions', { codec: text })) })`. */
export function keyvStore(cache: KeyvCache, options: KeyvStoreOptions = {}): KeyvStore {
  return new KeyvStore(cache, options)
}
