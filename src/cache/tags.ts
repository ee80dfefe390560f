// Tags: a counter each, in a slot of its own. A value is stored with the generations that its tags had before it
// was loaded, and counts as long as they still have them.

import { InvalidArgumentError } from '../runtime/errors/errors.ts'
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
