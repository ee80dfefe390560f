// Copies of values in this process. It keeps one only while it hears of everything that may end it, so that who was told of
// nothing serves what is still there; and never longer than `age`, for a message can be lost.
//
//   a read begins ──its ears are ready──► the value is read ──nothing was told meanwhile──► kept
//
// Its Map lists places in the order of their use: the least recently used goes first.

import type { Unit } from '../runtime/connection/unit.ts'
import type { Ear, Ears, Hearer } from './ear.ts'
import { type Copy, Place, type Reading } from './place.ts'
import { ToldTags } from './told-tags.ts'

export interface LevelLimits {
  readonly count: number
  readonly bytes: number
  readonly ageMs: number
  /** Whether all who are served a copy get the same value. */
  readonly share: boolean
}

/** So many of those that are too old are let go of at once. */
const MOST_AT_ONCE = 100

interface LevelEvents {
  /** It keeps something, and did not before. */
  onBegin(): void
  onEvicted(key: string): void
}

export class Level implements Hearer {
  readonly limits: LevelLimits
  readonly #unitOf: (key: string) => Unit
  readonly #events: LevelEvents
  readonly #places = new Map<string, Place>()
  /** The same by the keys of their values, as they are told. */
  readonly #told = new Map<string, Place>()
  readonly #tags: ToldTags
  readonly #ears: Ears
  #count = 0
  #bytes = 0

  constructor(limits: LevelLimits, unitOf: (key: string) => Unit, ears: Ears, events: LevelEvents) {
    this.limits = limits
    this.#unitOf = unitOf
    this.#ears = ears
    this.#tags = new ToldTags(ears, this)
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
  begin(key: string, tags: readonly string[]): Reading | null {
    const place = this.#placeOf(key, tags)
    if (place === null || !place.ready) return null
    return { place, turn: place.turn, askedAt: performance.now() }
  }

  /** Keeps what was read, unless something was told of it since the read began. */
  keep({ place, turn }: Reading, copy: Copy): void {
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
    this.#tags.note(key, number)
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

  lose(ear: Ear): void {
    for (const place of this.#places.values()) {
      if (place.ear === ear || place.tags.some((tag) => tag.ear === ear)) this.#remove(place)
    }
  }

  #placeOf(key: string, tags: readonly string[]): Place | null {
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
    this.#ears.listen(place.valueKey, this)
    if (this.#places.size === 1) this.#events.onBegin()
    this.#makeRoom()
    return place
  }

  #enter(key: string, tags: readonly string[]): Place | null {
    const unit = this.#unitOf(key)
    const ear = this.#ears.enter(unit)
    const told = tags.map((tag) => this.#tags.enter(this.#unitOf(tag)))
    if (ear !== null && told.every((tag) => tag !== null)) {
      return new Place(key, `${unit.prefix}:value`, toNames(tags), ear, told)
    }
    ear?.leave()
    for (const tag of told) if (tag !== null) this.#tags.leave(tag)
    return null
  }

  #touch(place: Place): void {
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

  #remove(place: Place): void {
    this.#drop(place)
    this.#places.delete(place.key)
    this.#told.delete(place.valueKey)
    this.#ears.forget(place.valueKey)
    place.ear.leave()
    for (const tag of place.tags) this.#tags.leave(tag)
  }

  /** One without a copy counts from when it began. */
  #isOld({ copy, begunAt }: Place, now: number): boolean {
    return now - (copy?.askedAt ?? begunAt) >= this.limits.ageMs
  }

  #drop(place: Place): void {
    if (place.copy === null) return
    this.#count -= 1
    this.#bytes -= place.copy.envelope.size
    place.copy = null
  }
}

function toNames(tags: readonly string[]): string {
  return tags.length === 0 ? '' : tags.join('\0')
}
