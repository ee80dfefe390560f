// Shared by all calls on a cache: keys, terms, the encoding of values, and the state shared by all handles of one
// name in this process.

import { VALUE_FLAGS } from '../generated/bits.ts'
import { fail } from '../generated/cache.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { Unit } from '../runtime/connection/unit.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { type Codec, codecOr, decodingOf, jsonOf, sizeOfEncoded } from '../runtime/values/codec.ts'
import { checkName, unitPrefixes } from '../runtime/values/keys.ts'
import { learnNotifyChannel } from '../runtime/waiting/notify-channel.ts'
import { type Envelope, PAYLOAD } from './envelope.ts'
import { Level, LevelChannels } from './level.ts'
import type { Joinable } from './loader.ts'
import { LocalLoads } from './local-loads.ts'
import {
  type CacheOptions,
  type CacheTerms,
  type LevelLimits,
  type Emit,
  toEmit,
  toTerms,
} from './options.ts'
import { Reads } from './reads.ts'
import { CacheGeneration, type Generations, tagBlock } from './tags.ts'

const SINCE = '6.2.0'
const MAX_VALUE_BYTES = 16 * 1024 * 1024
const MAX_CODEC_BYTES = 64

/** An encoded value. */
export interface EncodedValue {
  readonly flags: number
  readonly payload: string | Uint8Array
}

/** Replaces a value that its codec cannot decode: a cache treats it as absent and loads another. */
export const UNDECODABLE: unique symbol = Symbol('undecodable')
export type Decoded<Value> = Value | typeof UNDECODABLE

/** One handle of a cache. */
export class CacheSource<Value> {
  readonly runtime: Runtime
  readonly name: string
  readonly codec: Codec<Value>
  readonly terms: CacheTerms
  readonly shared: SharedState<Value>
  /** Null without a listener. */
  readonly emit: Emit | null
  /** How its codec decodes: handles of one name may have codecs of one name that decode differently. */
  readonly decoding: { readonly kind: string; readonly keepsBytes: boolean }
  /** The prefix of the Redis keys of a key or a tag. */
  readonly #prefixOf: (key: string) => string

  /** Throws InvalidArgumentError. */
  constructor(runtime: Runtime, name: string, options: CacheOptions<Value>) {
    this.runtime = runtime
    this.name = name
    this.terms = toTerms(options)
    this.emit = toEmit(options.hooks)
    this.codec = codecOr(options.codec, () => jsonOf<Value>('value'))
    if (Buffer.byteLength(this.codec.name) > MAX_CODEC_BYTES) {
      throw new InvalidArgumentError('codec', `must have a name of at most ${MAX_CODEC_BYTES} bytes`)
    }
    this.decoding = decodingOf(this.codec)
    this.shared = SharedState.of<Value>(runtime, checkName('name', name))
    if (this.terms.l1 !== null) this.shared.openLevel(this.terms.l1, this.emit)
    this.#prefixOf = unitPrefixes(runtime.namespace, 'cache', name)
  }

  /** The unit of a key or a tag; without an argument that of the whole cache. */
  unitOf(key?: string): Unit {
    return unitIn(this.runtime, this.name, key)
  }

  /** The key in Redis of a value. */
  valueKeyOf(key: string): string {
    return `${this.#prefixOf(key)}:value`
  }

  /** The key in Redis of the generation of a tag. */
  generationKeyOf(tag: string): string {
    return `${this.#prefixOf(tag)}:generation`
  }

  /** The name of a key in error messages. */
  resourceOf(key: string): string {
    return `key '${key}' of cache '${this.name}'`
  }

  /** Throws InvalidArgumentError when the value cannot be stored. */
  encode(value: Value): EncodedValue {
    if (value === null) return { flags: VALUE_FLAGS.null, payload: '' }
    if (value === undefined) return { flags: VALUE_FLAGS.undefined, payload: '' }
    const payload = this.codec.encode(value)
    sizeOfEncoded('value', payload, MAX_VALUE_BYTES)
    return { flags: PAYLOAD, payload }
  }

  /** The flag that a writer adds when its own process will keep a copy. */
  get heldFlag(): number {
    return this.shared.level === null ? 0 : VALUE_FLAGS.held
  }

  /**
   * Emits an event with the error of the codec. Throws InvalidArgumentError when the value was made with another
   * codec.
   */
  decode(key: string, envelope: Envelope): Decoded<Value> {
    const { flags } = envelope
    if (flags === VALUE_FLAGS.null) return null as Value
    if (flags === VALUE_FLAGS.undefined) return undefined as Value
    envelope.checkCodec(this.codec.name)
    const { payload } = envelope
    try {
      // A value may consist of the bytes, such as one of `bytes`: it is the caller's, and the payload is a copy in the
      // process, or that of another reader.
      return this.codec.decode(this.decoding.keepsBytes ? Buffer.from(payload) : payload)
    } catch (error) {
      this.emit?.({ kind: 'undecodable', key, error })
      return UNDECODABLE
    }
  }

  /** Like `decode`, for a copy that this process keeps. */
  decodeCopy(key: string, envelope: Envelope): Decoded<Value> {
    const decode = (): Decoded<Value> => this.decode(key, envelope)
    return this.shared.level?.limits.share ? envelope.decodedOnce(this.decoding.kind, decode) : decode()
  }

  /** The current generations of these tags. */
  async readGenerations(tags: readonly string[]): Promise<Generations> {
    const { reads, generation } = this.shared
    const { storeMs } = this.terms
    const reading = tags.map((tag) => reads.get(this.generationKeyOf(tag), storeMs))
    const [whole, ...generations] = await Promise.all([generation.get(storeMs), ...reading])
    if (tags.length === 0) return { tags: whole, whole }
    const named = tags.map((tag, at) => ({ tag, generation: Number(generations[at] ?? 0) }))
    return { tags: Buffer.concat([whole, tagBlock(named)]), whole }
  }

  /** From now on a read of the key may return this much data. */
  expectToRead(key: string, payload: string | Uint8Array): void {
    this.shared.reads.stored(this.valueKeyOf(key), Buffer.byteLength(payload))
  }

  /** Gives up the lease of a load; a reason is sent to the waiters. False when the load was revoked or lost. */
  async giveUp(key: string, id: string, reason: string = ''): Promise<boolean> {
    const unit = this.unitOf(key)
    const notifyChannel = await learnNotifyChannel(unit)
    const args = { id, restMs: this.terms.restMs, ...notifyChannel, reason }
    const { status } = await unit.run(fail, args, { atClose: 'gives back' })
    return status === 'failed'
  }
}

function unitIn(runtime: Runtime, name: string, key?: string): Unit {
  return new Unit(runtime, {
    structure: 'cache',
    name,
    since: SINCE,
    ...(key === undefined ? {} : { unit: key }),
  })
}

const MOST_QUIET = 10_000
/** How long loaders answer without asking Redis after it did not answer. */
const AWAY_MS = 1000

const known = new WeakMap<Runtime, WhileUsed<SharedState<unknown>>>()

/** State shared by all handles of one name in this process: loads under way, reads of this tick, and known facts. */
class SharedState<Value> {
  readonly reads: Reads
  readonly generation: CacheGeneration
  /** Joinable loads, by key and tags. */
  readonly loads: Map<string, Joinable<Value>> = new Map()
  readonly local: LocalLoads<Value> = new LocalLoads()
  /** The request under way for the server's time. */
  learning: Promise<void> | null = null
  readonly #quiet = new Map<string, { token: number; until: number }>()
  #awayUntil = 0
  readonly #unitOf: (key: string) => Unit
  readonly #channels: LevelChannels
  readonly #among: WhileUsed<SharedState<unknown>>
  #level: Level | null = null

  private constructor(runtime: Runtime, name: string, among: WhileUsed<SharedState<unknown>>) {
    this.#among = among
    this.#channels = LevelChannels.of(runtime)
    this.#unitOf = (key) => unitIn(runtime, name, key)
    const beginning = runtime.prefix('cache', name)
    this.reads = new Reads(runtime, beginning)
    const key = `${beginning}:generation`
    this.generation = new CacheGeneration((withinMs) => this.reads.get(key, withinMs))
  }

  static of<Value>(runtime: Runtime, name: string): SharedState<Value> {
    const ofRuntime = known.get(runtime) ?? new WhileUsed<SharedState<unknown>>()
    known.set(runtime, ofRuntime)
    const before = ofRuntime.find(name)
    if (before !== undefined) return before as SharedState<Value>
    const shared = new SharedState<Value>(runtime, name, ofRuntime)
    ofRuntime.add(name, shared as SharedState<unknown>)
    return shared
  }

  /** The L1 of this process; null without one. */
  get level(): Level | null {
    return this.#level
  }

  /** All handles share one L1. Throws InvalidArgumentError when it already has other limits. */
  openLevel(limits: LevelLimits, emit: Emit | null): void {
    const limited = this.#level?.limits
    if (limited === undefined) {
      const level = new Level(limits, this.#unitOf, this.#channels, {
        onBegin: () => this.#among.keep(this as SharedState<unknown>, () => level.isOver()),
        onEvicted: (key) => emit?.({ kind: 'evicted', key }),
      })
      this.#level = level
    } else if (!sameLimits(limited, limits)) {
      throw new InvalidArgumentError('l1', 'must be the same for all handles of one cache')
    }
  }

  /** A value was, or may have been, set or invalidated: drops everything older of it in this process. */
  forget(key: string): void {
    this.#level?.forget(key)
    this.local.forget(key)
  }

  /** Like `forget`, for all values. */
  forgetAll(): void {
    this.#level?.clear()
    this.local.clear()
  }

  /** True while a refresh of this value is pointless: a load is under way, or one failed just now. */
  isQuiet(name: string, token: number): boolean {
    const quiet = this.#quiet.get(name)
    if (quiet === undefined) return false
    if (quiet.token === token && quiet.until > performance.now()) return true
    this.#quiet.delete(name)
    return false
  }

  hush(name: string, token: number, ms: number): void {
    if (this.#quiet.size >= MOST_QUIET) this.#quiet.clear()
    this.#quiet.set(name, { token, until: performance.now() + ms })
  }

  /** True while Redis is considered unavailable. `now`: by `performance.now()`. */
  isAway(now: number): boolean {
    return now < this.#awayUntil
  }

  noteAway(): void {
    this.#awayUntil = performance.now() + AWAY_MS
  }
}

function sameLimits(one: LevelLimits, other: LevelLimits): boolean {
  return (
    one.count === other.count &&
    one.bytes === other.bytes &&
    one.ageMs === other.ageMs &&
    one.share === other.share
  )
}

/** The number of unused values kept, so that a program that opens a handle for each call finds the earlier state. */
const MOST_KEPT = 1000
/** Two checked for each one added, so that they are removed as fast as they are added. */
const ASKED = 2

/** State by name, kept while a handle uses it. A program may use any number of names. */
export class WhileUsed<Value extends object> {
  readonly #known = new Map<string, WeakRef<Value>>()
  readonly #over = new FinalizationRegistry((name: string) => {
    if (this.find(name) === undefined) this.#known.delete(name)
  })
  /** The newest values, in a ring. */
  readonly #newest: Value[] = []
  /** The retained values with their end condition; the one checked longest ago comes first. */
  readonly #kept = new Map<Value, () => boolean>()
  #begun = 0

  /** The number of known names. */
  get size(): number {
    return this.#known.size
  }

  find(name: string): Value | undefined {
    return this.#known.get(name)?.deref()
  }

  add(name: string, value: Value): void {
    this.#known.set(name, new WeakRef(value))
    this.#over.register(value, name)
    this.#newest[this.#begun % MOST_KEPT] = value
    this.#begun += 1
  }

  /** Retains a value, even without a handle, until it is over. Each call checks some of the retained values. */
  keep(value: Value, isOver: () => boolean): void {
    let asked = 0
    for (const [other, isOtherOver] of this.#kept) {
      if (asked === ASKED) break
      asked += 1
      this.#kept.delete(other)
      if (!isOtherOver()) this.#kept.set(other, isOtherOver)
    }
    this.#kept.set(value, isOver)
  }
}
