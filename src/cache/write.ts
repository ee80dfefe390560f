// Setting and invalidating: what changes a cache without a load.

import { invalidate, invalidateTag, set } from '../generated/cache.ts'
import { checkOptions } from '../runtime/values/arguments.ts'
import { AmbiguousError, InvalidArgumentError } from '../runtime/errors/errors.ts'
import { rest } from '../runtime/time/in-time.ts'
import { checkName } from '../runtime/values/keys.ts'
import { learnTold } from '../runtime/waiting/notify-channel.ts'
import { checkVersion } from './loader.ts'
import { type SetOptions, spanOf, spread, toSpan } from './options.ts'
import type { CacheSource } from './source.ts'
import { checkTag, checkTags, KNOWN_FOR_MS } from './tags.ts'

/** What became of a `set`. */
export type WasSet =
  | { readonly stored: true; readonly freshUntilMs: number; readonly staleUntilMs: number }
  /** A greater version is known, or the same. */
  | { readonly stored: false; readonly version: number }

/** What is to be forgotten: a key, several, or all values with a tag. */
export type Invalidated = string | readonly string[] | { readonly tag: string }

const MOST_KEYS = 1000
/** No two clocks run alike. */
const CLOCKS_APART = 1.05

export async function setValue<Value>(
  source: CacheSource<Value>,
  key: string,
  value: Value,
  options: SetOptions,
): Promise<WasSet> {
  checkOptions('options', options, ['ttl', 'staleWhileRevalidate', 'version', 'tags'])
  const unit = source.unitOf(checkName('key', key))
  const { ttlMs, staleWhileRevalidateMs } = toSpan(options, spanOf(value, source.terms, source.terms))
  const version = options.version === undefined ? 0 : checkVersion(options.version)
  const encoded = source.encode(value)
  const { tags } = await source.readGenerations(checkTags(options.tags))
  const told = await learnTold(unit)
  const terms = {
    version,
    ttlMs: spread(ttlMs, source.terms.jitter),
    staleWhileRevalidateMs,
    tags,
    ...encoded,
    ...told,
  }
  const flags = encoded.flags + source.heldFlag
  source.expectToRead(key, encoded.payload)
  const setting = unit.runOnce(set, (id) => ({ codec: source.codec.name, ...id, ...terms, flags }))
  // Also when it is not known whether it was set.
  const answer = await setting.finally(() => source.shared.forget(key))
  if (answer.status === 'superseded') return { stored: false, version: answer.version }
  return { stored: true, freshUntilMs: answer.freshUntilMs, staleUntilMs: answer.staleUntilMs }
}

/** Resolves to how many values there were; of a tag it is not known, and null. */
export async function invalidateWhat<Value>(
  source: CacheSource<Value>,
  what: Invalidated,
): Promise<number | null> {
  if (typeof what === 'string') return invalidateKeys(source, [what])
  if (isList(what)) return invalidateKeys(source, what)
  checkOptions('what', what, ['tag'])
  await invalidateTagged(source, checkTag(what.tag))
  return null
}

async function invalidateKeys<Value>(source: CacheSource<Value>, keys: readonly string[]): Promise<number> {
  if (keys.length > MOST_KEYS) throw new InvalidArgumentError('keys', `must be at most ${MOST_KEYS}`)
  for (const key of keys) checkName('key', key)
  const existed = await Promise.all(keys.map((key) => invalidateKey(source, key)))
  return existed.filter(Boolean).length
}

async function invalidateKey<Value>(source: CacheSource<Value>, key: string): Promise<boolean> {
  const unit = source.unitOf(key)
  try {
    const { channel, sharded } = await learnTold(unit)
    return (await unit.run(invalidate, { channel, sharded })).existed
  } finally {
    // Before anybody can know that it was invalidated; also when it is not known whether it was.
    source.shared.forget(key)
  }
}

async function invalidateTagged<Value>(source: CacheSource<Value>, tag: string): Promise<void> {
  const { shared } = source
  try {
    const generation = await renew(source, tag)
    shared.level?.note(source.generationKeyOf(tag), generation)
    // Which of them have the tag is not known before they end.
    shared.local.clear()
  } catch (error) {
    shared.forgetAll()
    throw error
  }
}

/** Makes the generation of a tag anew, or of the cache as a whole. */
async function renew<Value>(source: CacheSource<Value>, tag?: string): Promise<number> {
  const unit = source.unitOf(tag)
  const { channel, sharded } = await learnTold(unit)
  return (await unit.run(invalidateTag, { channel, sharded })).generation
}

/** Resolves when no process goes any more by the generation that it knew before. */
export async function clearAll<Value>(source: CacheSource<Value>): Promise<void> {
  const { shared } = source
  shared.generation.note(await renew(source))
  shared.forgetAll()
  await rest(KNOWN_FOR_MS * CLOCKS_APART, source.runtime.runner.deadlines).catch((cause: unknown) => {
    throw new AmbiguousError('cache clear', { cause })
  })
}

function isList(what: Exclude<Invalidated, string>): what is readonly string[] {
  return Array.isArray(what)
}
