// Copies of values in this process. It keeps one only while it hears of everything that may end it (lua/shared/cache/messages), so
// that who was told of nothing serves what is still there; and never longer than `age`, for a message can be lost.
//
//   a read begins ──its channels are ready──► the value is read ──nothing was told meanwhile──► kept
//
// Its Map lists places in the order of their use: the least recently used goes first.

import type { Runtime } from '../runtime/connection/runtime.ts'
import type { Unit } from '../runtime/connection/unit.ts'
import { SharedSubscription } from '../runtime/subscriptions/shared-subscription.ts'
import type { Subscriptions } from '../runtime/subscriptions/subscriptions.ts'
import type { Envelope } from './envelope.ts'
import type { LevelLimits } from './options.ts'

/** So many of those that are too old are let go of at once. */
const MOST_AT_ONCE = 100
/** After one could not be opened, none is for so long. */
const REST_MS = 1000

/** A value as it was read from Redis. */
export interface Copy {
  readonly envelope: Envelope
  /** The generations it was read under, as its head has them. */
  readonly block: Buffer
  /** Those of its tags as numbers, in their order. */
  readonly generations: readonly number[]
  /** That of the cache as a whole: the very buffer. */
  readonly whole: Buffer
  /** When it was asked for, by `performance.now()`. */
  readonly askedAt: number
}

/** What a level was told of a tag of what it keeps. */
interface LevelTag {
  /** Of its generation. */
  readonly key: string
  readonly channel: SharedSubscription
  newest: number
  /** Places that have it. */
  users: number
}

/** What a level knows of one key: perhaps a copy of its value, and what it was told since. */
class LevelPlace {
  readonly key: string
  readonly valueKey: string
  /** Its tags in one text. */
  readonly names: string
  readonly channel: SharedSubscription
  readonly tags: readonly LevelTag[]
  /** By `performance.now()`. */
  readonly begunAt: number = performance.now()
  copy: Copy | null = null
  /** Grows when nothing may be kept of what is being read. */
  turn = 0
  /** True while Redis is asked to say that the value is held. */
  asks = false
  #floor = 0

  constructor(
    key: string,
    valueKey: string,
    names: string,
    channel: SharedSubscription,
    tags: readonly LevelTag[],
  ) {
    this.key = key
    this.valueKey = valueKey
    this.names = names
    this.channel = channel
    this.tags = tags
  }

  /** True while it is told of all that it must know. */
  get ready(): boolean {
    return this.channel.isReady && this.tags.every(({ channel }) => channel.isReady)
  }

  /** Values with a smaller token count no more. */
  raise(floor: number): void {
    this.#floor = Math.max(this.#floor, floor)
  }

  /** Whether nothing was told that ends this copy. */
  allows({ envelope, generations }: Copy): boolean {
    return (
      envelope.token >= this.#floor && this.tags.every(({ newest }, at) => newest <= (generations[at] ?? 0))
    )
  }
}

/** A read that may fill a place. */
export interface LevelRead {
  readonly place: LevelPlace
  readonly turn: number
  readonly askedAt: number
}

interface LevelEvents {
  /** It keeps something, and did not before. */
  onBegin(): void
  onEvicted(key: string): void
}

export class Level {
  readonly limits: LevelLimits
  readonly #unitOf: (key: string) => Unit
  readonly #events: LevelEvents
  readonly #places = new Map<string, LevelPlace>()
  /** The same by the keys of their values, as they are told. */
  readonly #told = new Map<string, LevelPlace>()
  /** By the keys of their generations. */
  readonly #tags = new Map<string, LevelTag>()
  readonly #channels: LevelChannels
  #count = 0
  #bytes = 0

  constructor(
    limits: LevelLimits,
    unitOf: (key: string) => Unit,
    channels: LevelChannels,
    events: LevelEvents,
  ) {
    this.limits = limits
    this.#unitOf = unitOf
    this.#channels = channels
    this.#events = events
  }

  get size(): { count: number; bytes: number } {
    return { count: this.#count, bytes: this.#bytes }
  }

  /** The copy of a value with these tags, if it counts. `now`: by `performance.now()`. */
  find(key: string, tags: readonly string[], whole: Buffer, now: number): Copy | null {
    const place = this.#places.get(key)
    if (place === undefined || place.copy === null || place.names !== toNames(tags)) return null
    const { copy } = place
    if (copy.whole === whole && !this.#isOld(place, now) && place.allows(copy)) {
      this.#touch(place)
      return copy
    }
    this.#drop(place)
    return null
  }

  /** To be called before a value is read that shall be kept; null when nothing would tell of its end. */
  begin(key: string, tags: readonly string[]): LevelRead | null {
    const place = this.#placeOf(key, tags)
    if (place === null || !place.ready) return null
    return { place, turn: place.turn, askedAt: performance.now() }
  }

  /** Keeps what was read, unless something was told of it since the read began. */
  keep({ place, turn }: LevelRead, copy: Copy): void {
    const isCurrent = this.#places.get(place.key) === place && place.turn === turn
    const size = copy.envelope.size
    if (!isCurrent || !place.allows(copy) || size > this.limits.bytes) return
    this.#drop(place)
    // What was read earlier never takes its place.
    place.raise(copy.envelope.token)
    place.copy = { ...copy, envelope: copy.envelope.copy() }
    this.#count += 1
    this.#bytes += size
    this.#makeRoom()
  }

  /** What is kept of a key, or being read, counts no more. */
  forget(key: string): void {
    const place = this.#places.get(key)
    if (place === undefined) return
    place.turn += 1
    this.#drop(place)
  }

  /** The same of all keys. */
  clear(): void {
    for (const key of this.#places.keys()) this.forget(key)
  }

  /** What scripts tell by the key in Redis: of a value, all with a smaller token count no more; of a tag, of older generations. */
  note(key: string, number: number): void {
    const tag = this.#tags.get(key)
    if (tag !== undefined) tag.newest = Math.max(tag.newest, number)
    const place = this.#told.get(key)
    place?.raise(number)
    if (place?.copy && !place.allows(place.copy)) this.#drop(place)
  }

  /** Lets go of some that are too old to be served, the least recently used first. True once there is nothing left. */
  isOver(): boolean {
    const now = performance.now()
    let left = MOST_AT_ONCE
    for (const place of this.#places.values()) {
      if (left === 0 || !this.#isOld(place, now)) break
      this.#remove(place)
      left -= 1
    }
    return this.#places.size === 0
  }

  /** What was kept by this channel counts no more. */
  lose(channel: SharedSubscription): void {
    for (const place of this.#places.values()) {
      if (place.channel === channel || place.tags.some((tag) => tag.channel === channel)) this.#remove(place)
    }
  }

  #placeOf(key: string, tags: readonly string[]): LevelPlace | null {
    const known = this.#places.get(key)
    if (known?.names === toNames(tags)) {
      this.#touch(known)
      return known
    }
    if (known !== undefined) this.#remove(known)
    const place = this.#enter(key, tags)
    if (place === null) return null
    this.#places.set(key, place)
    this.#told.set(place.valueKey, place)
    this.#channels.listen(place.valueKey, this)
    if (this.#places.size === 1) this.#events.onBegin()
    this.#makeRoom()
    return place
  }

  #enter(key: string, tags: readonly string[]): LevelPlace | null {
    const unit = this.#unitOf(key)
    const channel = this.#channels.enter(unit)
    const told = tags.map((tag) => this.#enterTag(this.#unitOf(tag)))
    if (channel !== null && told.every((tag) => tag !== null)) {
      return new LevelPlace(key, `${unit.prefix}:value`, toNames(tags), channel, told)
    }
    channel?.leave()
    for (const tag of told) if (tag !== null) this.#leaveTag(tag)
    return null
  }

  /** One more place has this tag, until it leaves. Null when nothing would tell of its end. */
  #enterTag(unit: Unit): LevelTag | null {
    const key = `${unit.prefix}:generation`
    const tag = this.#tags.get(key) ?? this.#addTag(key, unit)
    if (tag !== null) tag.users += 1
    return tag
  }

  #addTag(key: string, unit: Unit): LevelTag | null {
    const channel = this.#channels.enter(unit)
    if (channel === null) return null
    const tag = { key, channel, newest: 0, users: 0 }
    this.#tags.set(key, tag)
    this.#channels.listen(key, this)
    return tag
  }

  #leaveTag(tag: LevelTag): void {
    tag.users -= 1
    if (tag.users > 0) return
    this.#tags.delete(tag.key)
    this.#channels.forget(tag.key)
    tag.channel.leave()
  }

  #touch(place: LevelPlace): void {
    this.#places.delete(place.key)
    this.#places.set(place.key, place)
  }

  #makeRoom(): void {
    const { count, bytes } = this.limits
    for (const place of this.#places.values()) {
      if (this.#places.size <= count && this.#bytes <= bytes) return
      const isKept = place.copy !== null
      this.#remove(place)
      if (isKept) this.#events.onEvicted(place.key)
    }
  }

  #remove(place: LevelPlace): void {
    this.#drop(place)
    this.#places.delete(place.key)
    this.#told.delete(place.valueKey)
    this.#channels.forget(place.valueKey)
    place.channel.leave()
    for (const tag of place.tags) this.#leaveTag(tag)
  }

  /** One without a copy counts from when it began. */
  #isOld({ copy, begunAt }: LevelPlace, now: number): boolean {
    return now - (copy?.askedAt ?? begunAt) >= this.limits.ageMs
  }

  #drop(place: LevelPlace): void {
    if (place.copy === null) return
    this.#count -= 1
    this.#bytes -= place.copy.envelope.size
    place.copy = null
  }
}

function toNames(tags: readonly string[]): string {
  return tags.length === 0 ? '' : tags.join('\0')
}

const known = new WeakMap<Runtime, LevelChannels>()

/**
 * Where the levels of an instance hear what counts no more: a message is for one of them, however many there are. On one node all
 * listen on one channel, on a cluster there is one for each key and tag: who tells and who listens meet on the node that holds it.
 *
 * One whose connection is lost is over: what was kept by it counts no more, and another one is opened when it is needed.
 */
export class LevelChannels {
  readonly #open = new Map<string, SharedSubscription>()
  /** By the keys in Redis of which they are told. */
  readonly #levels = new Map<string, Level>()
  #restsUntil = 0

  static of(runtime: Runtime): LevelChannels {
    const channels = known.get(runtime) ?? new LevelChannels()
    known.set(runtime, channels)
    return channels
  }

  /** From now on what is told of this key is for this level. */
  listen(key: string, level: Level): void {
    this.#levels.set(key, level)
  }

  forget(key: string): void {
    this.#levels.delete(key)
  }

  /** One more who needs it, until it leaves. Null when none can be opened just now. */
  enter(unit: Unit): SharedSubscription | null {
    const { server, subscriptions } = unit.runtime
    if (server.info === null || performance.now() < this.#restsUntil) return null
    const channel = `${unit.notifyChannel.channel}:levels`
    const opened = this.#open.get(channel) ?? this.#add(subscriptions, channel)
    opened.enter()
    return opened
  }

  #add(subscriptions: Subscriptions, channel: string): SharedSubscription {
    const opened: SharedSubscription = new SharedSubscription(subscriptions, channel, {
      onMessage: (message) => this.#hear(message),
      onLost: () => opened.end(),
      onGap: () => {
        // While it is opening nothing was kept that a missed message could have ended.
        if (opened.isReady) opened.end()
      },
      onOver: (wasReady) => {
        this.#open.delete(channel)
        if (!wasReady) this.#restsUntil = performance.now() + REST_MS
        for (const level of new Set(this.#levels.values())) level.lose(opened)
      },
    })
    this.#open.set(channel, opened)
    return opened
  }

  #hear(message: string): void {
    const space = message.indexOf(' ')
    const key = message.slice(space + 1)
    this.#levels.get(key)?.note(key, Number(message.slice(0, space)))
  }
}
