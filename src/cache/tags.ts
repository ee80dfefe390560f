// Tags: a counter each, in a slot of its own, its generation. A value is stored with the generations that its tags had before it
// was loaded, and counts as long as they still have them. The cache as a whole is a tag without a name, that every value has.

import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { isOutage } from '../runtime/errors/outage.ts'
import { checkName } from '../runtime/values/keys.ts'

const MOST_TAGS = 16
const MOST_BYTES = 255
const GENERATION_BYTES = 7

export const NO_TAGS: readonly string[] = []

/** Sorted, each once. Throws InvalidArgumentError. */
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

/** Generations, as a head has them. */
export interface Generations {
  /** Of the tags, behind that of the cache as a whole. */
  readonly tags: Buffer
  /** That of the cache as a whole alone. */
  readonly whole: Buffer
}

/** As a head has them; see lua/shared/cache/value. */
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

/** The generations of the tags in a block, but for that of the cache as a whole. */
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

/** The names in a block, but for that of the cache as a whole. */
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
 * The generation of a cache as a whole, which `clear` makes anew. To ask for it with every get would be one more GET each; so a
 * process goes by what it knows for a while, and a clear resolves when all have had to ask again.
 *
 *   asked ──known──half of its time──known, asks beside──over──the next get asks and waits
 *
 * Where nobody answers, what is known serves on, as long as the asking goes on without a pause: whoever was idle asks and waits.
 */
export class CacheGeneration {
  readonly #read: (withinMs: number) => Promise<Buffer | null>
  #block: Buffer = NONE
  #generation = 0
  /** By `performance.now()`, as the others. */
  #askedAt = -Infinity
  #notedAt = -Infinity
  #asking: Promise<void> | null = null
  /** Until then what is known serves on, for nobody answered when it was asked for again. */
  #strandedUntil = -Infinity
  /** What is known serves on while it is asked for. */
  #bridges = false

  constructor(read: (withinMs: number) => Promise<Buffer | null>) {
    this.#read = read
  }

  /** As a head has it; null when it has to be asked for. The same buffer as long as it is the same generation. */
  known(withinMs: number, now: number): Buffer | null {
    const ageMs = now - this.#askedAt
    if (ageMs > KNOWN_FOR_MS / 2) this.#ask(withinMs).catch(() => undefined)
    return ageMs < KNOWN_FOR_MS || this.#servesOn(now) ? this.#block : null
  }

  #servesOn(now: number): boolean {
    return now < this.#strandedUntil || this.#bridges
  }

  /** As `known`, after asking where that is needed. Rejects as reads do. */
  async get(withinMs: number): Promise<Buffer> {
    const since = performance.now() - KNOWN_FOR_MS
    while (this.#askedAt < since && !this.#servesOn(performance.now())) await this.#ask(withinMs)
    return this.#block
  }

  /** A generation that this process has made. */
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
      // What was noted meanwhile is newer.
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
