// Setting and invalidating: what changes a cache without a load.

import { invalidate, invalidateTag, set } from '../generated/cache.ts'
import { learnTold } from '../runtime/told.ts'
import { checkOptions } from '../runtime/arguments.ts'
import { InvalidArgumentError } from '../runtime/errors.ts'
import { checkName } from '../runtime/keys.ts'
import { checkVersion } from './loader.ts'
import { readTags } from './looking.ts'
import { type SetOptions, toSpan } from './options.ts'
import { spread } from './performing.ts'
import { encodeValue, type Source, unitOf } from './source.ts'
import { checkTag, checkTags } from './tags.ts'

/** What became of a `set`. */
export type WasSet =
  | { readonly stored: true; readonly freshUntilMs: number; readonly staleUntilMs: number }
  /** A greater version is known, or the same. */
  | { readonly stored: false; readonly version: number }

/** What is to be forgotten: a key, several, or all values with a tag. */
export type Invalidated = string | readonly string[] | { readonly tag: string }

const MOST_KEYS = 1000

export async function setValue<Value>(
  source: Source<Value>,
  key: string,
  value: Value,
  options: SetOptions,
): Promise<WasSet> {
  checkOptions('options', options, ['freshFor', 'staleFor', 'version', 'tags'])
  const unit = unitOf(source, checkName('key', key))
  const { freshMs, staleMs } = toSpan(options, source.terms)
  const version = options.version === undefined ? 0 : checkVersion(options.version)
  const encoded = encodeValue(source, value)
  const tags = await readTags(source, checkTags(options.tags))
  const told = await learnTold(unit)
  const terms = { version, freshMs: spread(freshMs, source.terms.jitter), staleMs, tags, ...encoded, ...told }
  const answer = await unit.runOnce(set, (id) => ({ codec: source.codec.name, ...id, ...terms }))
  if (answer.status === 'superseded') return { stored: false, version: answer.version }
  return { stored: true, freshUntilMs: answer.freshUntilMs, staleUntilMs: answer.staleUntilMs }
}

/** Resolves to how many values there were; of a tag it is not known, and null. */
export async function invalidateWhat<Value>(
  source: Source<Value>,
  what: Invalidated,
): Promise<number | null> {
  if (typeof what === 'string') return invalidateKeys(source, [what])
  if (isList(what)) return invalidateKeys(source, what)
  checkOptions('what', what, ['tag'])
  await unitOf(source, checkTag(what.tag)).run(invalidateTag, {})
  return null
}

async function invalidateKeys<Value>(source: Source<Value>, keys: readonly string[]): Promise<number> {
  if (keys.length > MOST_KEYS) throw new InvalidArgumentError('keys', `must be at most ${MOST_KEYS}`)
  for (const key of keys) checkName('key', key)
  const answers = await Promise.all(keys.map((key) => unitOf(source, key).run(invalidate, {})))
  return answers.filter(({ existed }) => existed).length
}

function isList(what: Exclude<Invalidated, string>): what is readonly string[] {
  return Array.isArray(what)
}
