// Copies of values in this process. It keeps one only while it hears of everything that may end it, so that who was told of
// nothing serves what is still there; and never longer than `age`, for a message can be lost.
//
//   a read begins ──its ears are ready──► the value is read ──nothing was told meanwhile──► kept
//
// Its Map lists places in the order of their use: the least recently used goes first.

import type { Unit } from '../runtime/unit.ts'
import { type Ear, Ears } from './ear.ts'
import { type Copy, Place, ToldTag } from './place.ts'

export interface LevelLimits {
  readonly count: number
  readonly bytes: number
  readonly ageMs: number
  /** Whether all who are served a copy get the same value. */
  readonly share: boolean
}

/** A read that may fill a place. */
export interface Reading {
  readonly place: Place
  readonly turn: number
  readonly askedAt: number
}

export class Level {
  readonly limits: LevelLimits
  readonly #unitOf: (key: string) => Unit
  readonly #evicted: (key: string) => void
  readonly #places = new Map<string, Place>()
  /** The same by the keys of their values, and tags by those of their generations: as they are told. */
  readonly #told = new Map<string, Place>()
  readonly #tags = new Map<string, ToldTag>()
  readonly #ears: Ears = new Ears({ hear: (message) => this.#hear(message), lose: (ear) => this.#lose(ear) })
  #count = 0
  #bytes = 0

  constructor(limits: LevelLimits, unitOf: (key: string) => Unit, evicted: (key: string) => void) {
    this.limits = limits
    this.#unitOf = unitOf
    this.#evicted = evicted
  }

  get size(): { count: number; bytes: number } {
    return { count: this.#count, bytes: this.#bytes }
  }

  /** The copy of a value with these tags, if it counts. `now`: by `performance.now()`. */
  find(key: string, tags: readonly string[], whole: Buffer, now: number): Copy | null {
    const place = this.#places.get(key)
    if (place === undefined || place.copy === null || place.names !== toNames(tags)) return null
    const { copy } = place
    if (copy.whole === whole && now - copy.askedAt < this.limits.ageMs && place.allows(copy)) {
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
    const tag = this.#tags.get(key)
    if (tag !== undefined) tag.newest = Math.max(tag.newest, number)
    const place = this.#told.get(key)
    place?.raise(number)
    if (place?.copy && !place.allows(place.copy)) this.#drop(place)
  }

  #hear(message: string): void {
    const space = message.indexOf(' ')
    this.note(message.slice(space + 1), Number(message.slice(0, space)))
  }

  #lose(ear: Ear): void {
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
    this.#makeRoom()
    return place
  }

  #enter(key: string, tags: readonly string[]): Place | null {
    const unit = this.#unitOf(key)
    const ear = this.#ears.enter(unit)
    const told = tags.map((tag) => this.#tagOf(this.#unitOf(tag)))
    if (ear !== null && told.every((tag) => tag !== null)) {
      return new Place(key, `${unit.prefix}:value`, toNames(tags), ear, told)
    }
    ear?.leave()
    for (const tag of told) if (tag !== null) this.#leave(tag)
    return null
  }

  #tagOf(unit: Unit): ToldTag | null {
    const key = `${unit.prefix}:generation`
    const known = this.#tags.get(key)
    if (known !== undefined) {
      known.users += 1
      return known
    }
    const ear = this.#ears.enter(unit)
    if (ear === null) return null
    const tag = new ToldTag(key, ear)
    tag.users = 1
    this.#tags.set(key, tag)
    return tag
  }

  #leave(tag: ToldTag): void {
    tag.users -= 1
    if (tag.users > 0) return
    this.#tags.delete(tag.key)
    tag.ear.leave()
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
      if (isKept) this.#evicted(place.key)
    }
  }

  #remove(place: Place): void {
    this.#drop(place)
    this.#places.delete(place.key)
    this.#told.delete(place.valueKey)
    place.ear.leave()
    for (const tag of place.tags) this.#leave(tag)
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
