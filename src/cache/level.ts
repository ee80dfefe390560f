// The L1: copies of values in this process. It keeps a copy only while it receives every message that may invalidate
// it (lua/shared/cache/messages), so a copy without such a message is still valid. It never keeps a copy longer than
// `age`, because a message can be lost.
//
//   a read begins ──its channels are ready──► the value is read ──no message arrived meanwhile──► kept
//
// Its Map lists places in the order of use: the least recently used place is evicted first.

import type { Runtime } from '../runtime/connection/runtime.ts'
import type { Unit } from '../runtime/connection/unit.ts'
import { SharedSubscription } from '../runtime/subscriptions/shared-subscription.ts'
import type { Subscriptions } from '../runtime/subscriptions/subscriptions.ts'
import type { Envelope } from './envelope.ts'
import type { LevelLimits } from './options.ts'

/** The greatest number of expired places removed at once. */
const MOST_AT_ONCE = 100
/** The pause after a channel could not be opened. */
const REST_MS = 1000

/** A value as read from Redis. */
export interface Copy {
  readonly envelope: Envelope
  /** The generations at the time of the read, in the format of the head. */
  readonly block: Buffer
  /** The generations of its tags as numbers, in their order. */
  readonly generations: readonly number[]
  /** The generation of the whole cache, compared by buffer identity. */
  readonly whole: Buffer
  /** When the read was sent, by `performance.now()`. */
  readonly askedAt: number
}

/** A tag of kept values, with the newest generation announced. */
interface LevelTag {
  /** The Redis key of its generation. */
  readonly key: string
  readonly channel: SharedSubscription
  newest: number
  /** The number of places with this tag. */
  users: number
}

/** The state of one key: its copy, if any, and the invalidations announced since. */
class LevelPlace {
  readonly key: string
  readonly valueKey: string
  /** Its tags joined into one text. */
  readonly names: string
  readonly channel: SharedSubscription
  readonly tags: readonly LevelTag[]
  /** By `performance.now()`. */
  readonly begunAt: number = performance.now()
  copy: Copy | null = null
  /** Incremented when a read under way must not be kept. */
  turn = 0
  /** True while Redis is asked to flag the value as held by an L1. */
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

  /** True while every channel that it needs is open. */
  get ready(): boolean {
    return this.channel.isReady && this.tags.every(({ channel }) => channel.isReady)
  }

  /** Values with a smaller token are no longer valid. */
  raise(floor: number): void {
    this.#floor = Math.max(this.#floor, floor)
  }

  /** Whether no message has invalidated this copy. */
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
  /** Called when the L1 was empty and keeps its first place. */
  onBegin(): void
  onEvicted(key: string): void
}

export class Level {
  readonly limits: LevelLimits
  readonly #unitOf: (key: string) => Unit
  readonly #events: LevelEvents
  readonly #places = new Map<string, LevelPlace>()
  /** The same places by the Redis keys of their values, as messages name them. */
  readonly #byValueKey = new Map<string, LevelPlace>()
  /** The tags by the Redis keys of their generations. */
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

  /** The valid copy of a value with these tags, or null. `now`: by `performance.now()`. */
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

  /** Called before a read whose value is to be kept; null when no channel would announce its invalidation. */
  begin(key: string, tags: readonly string[]): LevelRead | null {
    const place = this.#placeOf(key, tags)
    if (place === null || !place.ready) return null
    return { place, turn: place.turn, askedAt: performance.now() }
  }

  /** Keeps the value that was read, unless a message about it arrived since the read began. */
  keep({ place, turn }: LevelRead, copy: Copy): void {
    const isCurrent = this.#places.get(place.key) === place && place.turn === turn
    const size = copy.envelope.size
    if (!isCurrent || !place.allows(copy) || size > this.limits.bytes) return
    this.#drop(place)
    // An earlier read must never replace this copy.
    place.raise(copy.envelope.token)
    place.copy = { ...copy, envelope: copy.envelope.copy() }
    this.#count += 1
    this.#bytes += size
    this.#makeRoom()
  }

  /** Invalidates the copy of a key, and any read under way. */
  forget(key: string): void {
    const place = this.#places.get(key)
    if (place === undefined) return
    place.turn += 1
    this.#drop(place)
  }

  /** Like `forget`, for all keys. */
  clear(): void {
    for (const key of this.#places.keys()) this.forget(key)
  }

  /**
   * An invalidation announced by a script. `key` is the Redis key of a value or of a tag's generation. Values with a
   * smaller token, or with an older generation of the tag, are no longer valid.
   */
  note(key: string, number: number): void {
    const tag = this.#tags.get(key)
    if (tag !== undefined) tag.newest = Math.max(tag.newest, number)
    const place = this.#byValueKey.get(key)
    place?.raise(number)
    if (place?.copy && !place.allows(place.copy)) this.#drop(place)
  }

  /** Removes some expired places, the least recently used first. True when none is left. */
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

  /** Removes all places that depend on this channel. */
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
    this.#byValueKey.set(place.valueKey, place)
    this.#channels.listen(place.valueKey, this)
    if (this.#places.size === 1) this.#events.onBegin()
    this.#makeRoom()
    return place
  }

  #enter(key: string, tags: readonly string[]): LevelPlace | null {
    const unit = this.#unitOf(key)
    const channel = this.#channels.enter(unit)
    const entered = tags.map((tag) => this.#enterTag(this.#unitOf(tag)))
    if (channel !== null && entered.every((tag) => tag !== null)) {
      return new LevelPlace(key, `${unit.prefix}:value`, toNames(tags), channel, entered)
    }
    channel?.leave()
    for (const tag of entered) if (tag !== null) this.#leaveTag(tag)
    return null
  }

  /** Adds a user of this tag; `#leaveTag` removes it. Null when no channel would announce its invalidation. */
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
    this.#byValueKey.delete(place.valueKey)
    this.#channels.forget(place.valueKey)
    place.channel.leave()
    for (const tag of place.tags) this.#leaveTag(tag)
  }

  /** The age of a place without a copy begins at its creation. */
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
 * The channels on which the L1s of an instance receive invalidations; each message is for one of them. On a single
 * node all share one channel. On a cluster each key and tag has its own channel, on the node that holds it.
 *
 * A channel whose connection is lost is closed: its copies are invalidated, and a new channel is opened when needed.
 */
export class LevelChannels {
  readonly #open = new Map<string, SharedSubscription>()
  /** The L1s by the Redis keys in their messages. */
  readonly #levels = new Map<string, Level>()
  #restsUntil = 0

  static of(runtime: Runtime): LevelChannels {
    const channels = known.get(runtime) ?? new LevelChannels()
    known.set(runtime, channels)
    return channels
  }

  /** Routes messages about this Redis key to this L1. */
  listen(key: string, level: Level): void {
    this.#levels.set(key, level)
  }

  forget(key: string): void {
    this.#levels.delete(key)
  }

  /** Adds a user of the unit's channel, until it leaves. Null while no channel can be opened. */
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
        // While the channel was opening, no copy was kept that a missed message could have invalidated.
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
