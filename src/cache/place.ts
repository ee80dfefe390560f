// What a level knows of one key: perhaps a copy of its value, and what it was told since.

import type { Ear } from './ear.ts'
import type { Envelope } from './envelope.ts'
import type { ToldTag } from './told-tags.ts'

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

export class Place {
  readonly key: string
  readonly valueKey: string
  /** Its tags in one text. */
  readonly names: string
  readonly ear: Ear
  readonly tags: readonly ToldTag[]
  /** By `performance.now()`. */
  readonly begunAt: number = performance.now()
  copy: Copy | null = null
  /** Grows when nothing may be kept of what is being read. */
  turn = 0
  /** True while Redis is asked to say that the value is held. */
  asks = false
  #floor = 0

  constructor(key: string, valueKey: string, names: string, ear: Ear, tags: readonly ToldTag[]) {
    this.key = key
    this.valueKey = valueKey
    this.names = names
    this.ear = ear
    this.tags = tags
  }

  /** True while it is told of all that it must know. */
  get ready(): boolean {
    return this.ear.isReady && this.tags.every(({ ear }) => ear.isReady)
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
export interface Reading {
  readonly place: Place
  readonly turn: number
  readonly askedAt: number
}
