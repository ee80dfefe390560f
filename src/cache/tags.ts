// Tags: each tag has a counter, its generation, in its own slot. A value is stored with the generations of its tags
// from before its load, and is valid while they are unchanged. The whole cache is a tag without a name, which every
// value has.

import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { isOutage } from '../runtime/errors/outage.ts'
import { checkName } from '../runtime/values/keys.ts'

const MOST_TAGS = 16
const MOST_BYTES = 255
const GENERATION_BYTES = 7

export const NO_TAGS: readonly string[] = []

/** Sorted, without duplicates. Throws InvalidArgumentError. */
export function checkTags(tags: unknown): readonly string[] {
  if (tags === undefined) return NO_TAGS
  if (!Array.isArray(tags) || tags.length > MOST_TAGS) {
    throw new InvalidArgumentError('tags', `must be a list of at most ${MOST_TAGS} tags`)
  }
  const once = [...new Set(tags.map(checkTag))]
  return once.toSorted((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)))
}

export function checkTag(tag: unknown): string {
  const name = checkName('tag', tag)
  if (Buffer.byteLength(name) > MOST_BYTES) {
    throw new InvalidArgumentError('tag', `must be at most ${MOST_BYTES} bytes of UTF-8`)
  }
  return name
}

export interface TagGeneration {
  readonly tag: string
  readonly generation: number
}

/** Generations in the format of the head. */
export interface Generations {
  /** The generation of the whole cache, then those of the tags. */
  readonly tags: Buffer
  /** The generation of the whole cache alone. */
  readonly whole: Buffer
}

/** The format of the head; see lua/shared/cache/value. */
export function tagBlock(tags: readonly TagGeneration[]): Buffer {
  return Buffer.concat(
    tags.map(({ tag, generation }) => {
      const name = Buffer.from(tag)
      const block = Buffer.alloc(1 + name.length + GENERATION_BYTES)
      block.writeUInt8(name.length)
      name.copy(block, 1)
      block.writeUInt8(Math.floor(generation / 2 ** 48), 1 + name.length)
      block.writeUIntBE(generation % 2 ** 48, 2 + name.length, 6)
      return block
    }),
  )
}

/** The generations in a block, except that of the whole cache. */
export function generationsIn(block: Buffer): number[] {
  const generations: number[] = []
  for (let at = 0; at < block.length; ) {
    const length = block.readUInt8(at)
    const number = at + 1 + length
    if (length > 0) generations.push(block.readUInt8(number) * 2 ** 48 + block.readUIntBE(number + 1, 6))
    at = number + GENERATION_BYTES
  }
  return generations
}

/** The tag names in a block, except that of the whole cache. */
export function tagsIn(block: Buffer): string[] {
  const tags: string[] = []
  for (let at = 0; at < block.length; ) {
    const length = block.readUInt8(at)
    if (length > 0) tags.push(block.toString('utf8', at + 1, at + 1 + length))
    at += 1 + length + GENERATION_BYTES
  }
  return tags
}

export const KNOWN_FOR_MS = 1000

const NONE = Buffer.alloc(0)

/**
 * The generation of the whole cache, which `clear` replaces by a new one. Reading it with every get would cost one
 * more GET each. So a process uses its known generation for a while, and `clear` resolves when every process has had
 * to read it again.
 *
 *   read ──known──half of its time──known, refreshes in the background──over──the next get reads and waits
 *
 * While Redis does not answer, the known generation stays in use as long as reads follow without a pause. After an
 * idle time the next get reads it and waits.
 */
export class CacheGeneration {
  readonly #read: (withinMs: number) => Promise<Buffer | null>
  #block: Buffer = NONE
  #generation = 0
  /** By `performance.now()`, like the other times. */
  #askedAt = -Infinity
  #notedAt = -Infinity
  #asking: Promise<void> | null = null
  /** Until then the known generation stays in use, because the last read was not answered. */
  #strandedUntil = -Infinity
  /** The known generation stays in use while it is read again. */
  #bridges = false

  constructor(read: (withinMs: number) => Promise<Buffer | null>) {
    this.#read = read
  }

  /**
   * The generation in the format of the head; null when it must be read. The buffer stays identical while the
   * generation does.
   */
  known(withinMs: number, now: number): Buffer | null {
    const ageMs = now - this.#askedAt
    if (ageMs > KNOWN_FOR_MS / 2) this.#ask(withinMs).catch(() => undefined)
    return ageMs < KNOWN_FOR_MS || this.#servesOn(now) ? this.#block : null
  }

  #servesOn(now: number): boolean {
    return now < this.#strandedUntil || this.#bridges
  }

  /** Like `known`, but reads the generation if necessary. Rejects like a read. */
  async get(withinMs: number): Promise<Buffer> {
    const since = performance.now() - KNOWN_FOR_MS
    while (this.#askedAt < since && !this.#servesOn(performance.now())) await this.#ask(withinMs)
    return this.#block
  }

  /** Notes a generation that this process created. */
  note(generation: number): void {
    this.#notedAt = performance.now()
    this.#set(generation)
  }

  #ask(withinMs: number): Promise<void> {
    if (this.#asking !== null) return this.#asking
    this.#bridges = this.#servesOn(performance.now())
    this.#asking = this.#learn(withinMs).finally(() => {
      this.#asking = null
      this.#bridges = false
    })
    return this.#asking
  }

  async #learn(withinMs: number): Promise<void> {
    const askedAt = performance.now()
    try {
      const bytes = await this.#read(withinMs)
      // A generation noted meanwhile is newer.
      if (askedAt > this.#notedAt) this.#set(Number(bytes ?? 0))
      this.#askedAt = askedAt
      this.#strandedUntil = -Infinity
    } catch (error) {
      if (this.#askedAt === -Infinity || !isOutage(error)) throw error
      this.#strandedUntil = performance.now() + KNOWN_FOR_MS
    }
  }

  #set(generation: number): void {
    if (generation === this.#generation) return
    this.#generation = generation
    this.#block = generation === 0 ? NONE : tagBlock([{ tag: '', generation }])
  }
}
