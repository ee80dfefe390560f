// Replaces all items in one step: one script call for few items, or a separate build that is switched in when
// complete.
//
//   nothing ──build──► BUILT in part ──plain commands──► … ──switchIn──► the items of the collection
//                         │ a minute without a call, a server that lost it, an answer that was lost
//                         └──► lost: begins again under another id, and by scripts only, whose calls may be repeated

import { randomBytes } from 'node:crypto'
import { type BuildAnswer, build, replace, type SwitchInAnswer, switchIn } from '../generated/collection.ts'
import { checkInteger } from '../runtime/values/arguments.ts'
import { type Duration, toMs } from '../runtime/values/duration.ts'
import { AmbiguousError, DriverError } from '../runtime/errors/errors.ts'
import { type Entries, fitOneCall, inGroups, largestOf, slice, toEntries, withinLimit } from './entries.ts'
import type { Kind } from './forms.ts'
import { pushAll } from './push.ts'
import { BuildUnit, ONE_CALL, type CollectionSource } from './source.ts'

export interface ReplaceOptions {
  /** How long the items stay valid. Default: the `ttl` of the collection. */
  ttl?: Duration
  /**
   * The version of the items: a whole number from 0 on that rises with each change, such as a timestamp. An older
   * version is refused. Default: none, the last write wins.
   */
  version?: number
}

/** The result of `replace`. */
export type Replaced =
  | { readonly status: 'replaced'; readonly size: number; readonly expiresAtMs: number }
  /** This version is already stored; its expiry is unchanged. */
  | { readonly status: 'unchanged'; readonly version: number; readonly expiresAtMs: number }
  /** A newer version is stored: this one. */
  | { readonly status: 'refused'; readonly version: number }

interface Terms {
  readonly kind: Kind
  readonly codec: string
  /** -1: no version. */
  readonly version: number
  readonly ttlMs: number
  readonly largest: number
}

const MOST_BUILDS = 3
// For so few items the string copies of a script cost nothing noticeable.
const BY_SCRIPT = 10
const MOST_IN_FLIGHT = 4

/** Throws InvalidArgumentError before anything is sent. */
export async function replaceItems<Item, Key>(
  source: CollectionSource<Item, Key>,
  items: Iterable<Item>,
  { ttl, version }: ReplaceOptions,
): Promise<Replaced> {
  const entries = withinLimit(source, toEntries(source, items))
  const terms: Terms = {
    kind: source.form.kind,
    codec: source.form.codec,
    version: version === undefined ? -1 : checkInteger('version', version, 0, Number.MAX_SAFE_INTEGER),
    ttlMs: ttl === undefined ? source.ttlMs : toMs('ttl', ttl),
    largest: largestOf(entries),
  }
  const answer = fitOneCall(entries)
    ? await replaceAtOnce(source, entries, terms)
    : await replaceByBuild(source, entries, terms)
  if (answer.status === 'refused') return answer
  const { status, expiresAtMs } = answer
  return status === 'replaced'
    ? { status, size: entries.sizes.length, expiresAtMs }
    : { status, version: terms.version, expiresAtMs }
}

type Outcome = Exclude<SwitchInAnswer, { status: 'lost' }>

function replaceAtOnce<Item, Key>(
  { unit }: CollectionSource<Item, Key>,
  { parts }: Entries,
  terms: Terms,
): Promise<Outcome> {
  return unit.runOnce(replace, (id) => ({ ...id, ...terms, parts }))
}

async function replaceByBuild<Item, Key>(
  { unit: { runtime, place } }: CollectionSource<Item, Key>,
  entries: Entries,
  terms: Terms,
): Promise<Outcome> {
  for (let at = 0; at < MOST_BUILDS; at++) {
    const unit = new BuildUnit(runtime, place, randomBytes(9).toString('base64url'))
    // The last build sends its calls strictly in order, so that no reordering can break it.
    const inFlight = at === MOST_BUILDS - 1 ? 1 : MOST_IN_FLIGHT
    const building = at === 0 ? buildPlainly(unit, entries, terms) : buildAll(unit, entries, terms, inFlight)
    const built = await certainly(building)
    if (typeof built !== 'number') {
      if (built.status !== 'lost') return built
      continue
    }
    const answer = await unit.runOnce(switchIn, (id) => ({ ...id, ...terms, size: built }))
    if (answer.status !== 'lost') return answer
  }
  throw new DriverError('busy', `collection '${place.name}': the server lost the build ${MOST_BUILDS} times`)
}

/**
 * The number of items built, or the reason why the build ended. A script makes the first call, which may refuse the
 * replace.
 */
async function buildPlainly(
  unit: BuildUnit,
  entries: Entries,
  terms: Terms,
): Promise<number | SwitchInAnswer> {
  const size = entries.sizes.length
  const [first = entries] = inGroups(slice(entries, 0, BY_SCRIPT), ONE_CALL)
  const begun = await buildOne(unit, first, 0, terms)
  if (begun.status !== 'built') return begun
  const left = slice(entries, begun.size, size)
  const isWhole = await pushAll(unit.runtime.runner, { key: unit.key, kind: terms.kind }, left, begun.size)
  return isWhole ? size : { status: 'lost' }
}

/**
 * The number of items built, or the reason why the build ended. After the first call, which may be refused, several
 * calls are in flight at once to hide the round trip. If they arrive out of order, the script reports the build as
 * lost.
 */
async function buildAll(
  unit: BuildUnit,
  entries: Entries,
  terms: Terms,
  inFlight: number,
): Promise<number | SwitchInAnswer> {
  let before = 0
  const underWay: Promise<BuildAnswer>[] = []
  for (const group of inGroups(entries, ONE_CALL)) {
    const count = group.sizes.length
    underWay.push(buildOne(unit, group, before, terms))
    before += count
    if (before > count && underWay.length < inFlight) continue
    const answer = await underWay.shift()
    if (answer !== undefined && answer.status !== 'built') return answer
  }
  const ended = (await Promise.all(underWay)).find(({ status }) => status !== 'built')
  return ended === undefined || ended.status === 'built' ? before : ended
}

function buildOne(
  unit: BuildUnit,
  { parts, sizes }: Entries,
  before: number,
  { kind, codec, version }: Terms,
): Promise<BuildAnswer> {
  const args = { kind, codec, version, before, count: sizes.length, parts }
  const answer = unit.run(build, args)
  // The caller may give up at an earlier error and never await this answer.
  answer.catch(() => undefined)
  return answer
}

/** The collection does not change during a build, so an ambiguous part is reported as an unreachable server. */
async function certainly<Value>(building: Promise<Value>): Promise<Value> {
  try {
    return await building
  } catch (error) {
    if (!(error instanceof AmbiguousError)) throw error
    throw new DriverError('unreachable', 'no server answered before the deadline', { cause: error })
  }
}
