// Changes to a cache without a load: setting and invalidating.

import { invalidate, invalidateTag, set } from '../generated/cache.ts'
import { checkOptions } from '../runtime/values/arguments.ts'
import { AmbiguousError, InvalidArgumentError } from '../runtime/errors/errors.ts'
import { rest } from '../runtime/time/in-time.ts'
import { checkName } from '../runtime/values/keys.ts'
import { learnNotifyChannel } from '../runtime/waiting/notify-channel.ts'
import { checkVersion } from './loader.ts'
import { type SetOptions, spanOf, spread, toSpan } from './options.ts'
import type { CacheSource } from './source.ts'
import { checkTag, checkTags, KNOWN_FOR_MS } from './tags.ts'

/** The result of `set`. */
export type WasSet =
  | { readonly stored: true; readonly freshUntilMs: number; readonly staleUntilMs: number }
  /** The same or a greater version is known: this one. */
  | { readonly stored: false; readonly version: number }

/** The target of an invalidation: a key, several keys, or all values with a tag. */
export type Invalidated = string | readonly string[] | { readonly tag: string }

const MOST_KEYS = 1000
/** A margin for clocks that run at different speeds. */
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
  const notifyChannel = await learnNotifyChannel(unit)
  const terms = {
    version,
    ttlMs: spread(ttlMs, source.terms.jitter),
    staleWhileRevalidateMs,
    tags,
    ...encoded,
    ...notifyChannel,
  }
  const flags = encoded.flags + source.heldFlag
  source.expectToRead(key, encoded.payload)
  const setting = unit.runOnce(set, (id) => ({ codec: source.codec.name, ...id, ...terms, flags }))
  // Also when it is unknown whether the value was set.
  const answer = await setting.finally(() => source.shared.forget(key))
  if (answer.status === 'superseded') return { stored: false, version: answer.version }
  return { stored: true, freshUntilMs: answer.freshUntilMs, staleUntilMs: answer.staleUntilMs }
}

/** Resolves to the number of values that existed; null for a tag, where it is unknown. */
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
    const { channel, sharded } = await learnNotifyChannel(unit)
    return (await unit.run(invalidate, { channel, sharded })).existed
  } finally {
    // Before any caller can know of the invalidation; also when its outcome is unknown.
    source.shared.forget(key)
  }
}

async function invalidateTagged<Value>(source: CacheSource<Value>, tag: string): Promise<void> {
  const { shared } = source
  try {
    const generation = await renew(source, tag)
    shared.level?.note(source.generationKeyOf(tag), generation)
    // The tags of these loads are unknown before they end.
    shared.local.clear()
  } catch (error) {
    shared.forgetAll()
    throw error
  }
}

/** Creates a new generation of a tag, or of the whole cache. */
async function renew<Value>(source: CacheSource<Value>, tag?: string): Promise<number> {
  const unit = source.unitOf(tag)
  const { channel, sharded } = await learnNotifyChannel(unit)
  return (await unit.run(invalidateTag, { channel, sharded })).generation
}

/** Resolves when no process uses its earlier generation any more. */
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
