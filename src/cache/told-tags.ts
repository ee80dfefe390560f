// What a level was told of the tags of what it keeps.

import type { Unit } from '../runtime/connection/unit.ts'
import type { Ear, Ears, Hearer } from './ear.ts'

export class ToldTag {
  readonly key: string
  readonly ear: Ear
  newest = 0
  /** Places that have it. */
  users = 0

  constructor(key: string, ear: Ear) {
    this.key = key
    this.ear = ear
  }
}

export class ToldTags {
  readonly #ears: Ears
  readonly #hearer: Hearer
  /** By the keys of their generations. */
  readonly #known = new Map<string, ToldTag>()

  constructor(ears: Ears, hearer: Hearer) {
    this.#ears = ears
    this.#hearer = hearer
  }

  /** One more place has this tag, until it leaves. Null when nothing would tell of its end. */
  enter(unit: Unit): ToldTag | null {
    const key = `${unit.prefix}:generation`
    const tag = this.#known.get(key) ?? this.#add(key, unit)
    if (tag !== null) tag.users += 1
    return tag
  }

  leave(tag: ToldTag): void {
    tag.users -= 1
    if (tag.users > 0) return
    this.#known.delete(tag.key)
    this.#ears.forget(tag.key)
    tag.ear.leave()
  }

  note(key: string, generation: number): void {
    const tag = this.#known.get(key)
    if (tag !== undefined) tag.newest = Math.max(tag.newest, generation)
  }

  #add(key: string, unit: Unit): ToldTag | null {
    const ear = this.#ears.enter(unit)
    if (ear === null) return null
    const tag = new ToldTag(key, ear)
    this.#known.set(key, tag)
    this.#ears.listen(key, this.#hearer)
    return tag
  }
}
