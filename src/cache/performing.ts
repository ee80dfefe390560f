// What an elected process does: it runs the loader under the lease, and stores what that found.
//
//   ELECTED ──loader──► found ──store──► STORED: everybody gets it
//      │                          └─revoked, superseded, lost──► REFUSED: only who began the load may have it
//      ├──the loader throws──► fail ──► FAILED: everybody who waits is told
//      ├──the lease is lost, or revoked──► LOST: whoever still wants the value begins again
//      └──the instance closes──► given back at once: another process may load

import { fail, type StoreAnswer, store } from '../generated/cache.ts'
import { isOutage } from '../runtime/outage.ts'
import type { Grant } from '../runtime/grant.ts'
import { KeptLease } from '../runtime/kept-lease.ts'
import { closed } from '../runtime/runner.ts'
import { learnTold } from '../runtime/told.ts'
import { kindOf } from './keeping.ts'
import { inMaxLoad, LoadContext, type Loader } from './loader.ts'
import { readTags } from './looking.ts'
import type { Span } from './options.ts'
import type { Outcome } from './outcome.ts'
import { encodeValue, heldBy, resourceOf, type Source, unitOf, valueKeyOf } from './source.ts'
import { tagsIn } from './tags.ts'

export interface Election {
  readonly key: string
  readonly id: string
  readonly grant: Grant
  /** Generations from before the load. */
  readonly tags: Buffer
  readonly span: Span
}

/** Who loads, and is told before that is stored. */
export interface Performer<Value> {
  readonly loader: Loader<Value>
  storing(): void
}

const LONGEST_REASON = 1000

/** Runs the loader under the lease of this election. Does not reject. */
export async function perform<Value>(
  source: Source<Value>,
  election: Election,
  { loader, storing }: Performer<Value>,
): Promise<Outcome<Value>> {
  const aborter = new AbortController()
  const ending: Ending = { end: () => giveUp(source, election.key, election.id, ''), stores: false }
  const lease = leaseOf(source, election, ending)
  lease.heed(aborter.signal)
  const context = new LoadContext(election.key, election.grant.token, () => lease.signal)
  const beganAt = performance.now()
  const tookMs = (): number => Math.round(performance.now() - beganAt)
  const forget = source.runtime.atClose(() => {
    if (ending.stores) return undefined
    aborter.abort(closed())
    return lease.release()
  })
  try {
    const value = await inMaxLoad(() => loader(context), source.terms.maxLoadMs, aborter)
    const loadMs = tookMs()
    const save = toSave(source, election, context, value, loadMs)
    storing()
    const saved = await finish(source, election, lease, ending, save)
    tellSaved(source, election, saved, loadMs)
    return { status: 'loaded', value, holds: await holdsFor(source, election, saved) }
  } catch (error) {
    if (source.runtime.runner.closed) return { status: 'failed', error: closed() }
    const lost = lease.remainingMs === 0
    source.tell?.({ kind: 'failed', key: election.key, loadMs: tookMs(), error })
    ending.end = () => giveUp(source, election.key, election.id, lost ? '' : reasonOf(error))
    // Where it cannot be told, the lease ends by itself.
    await endWith(lease, ending).catch(() => undefined)
    return lost ? { status: 'lost' } : { status: 'failed', error }
  } finally {
    forget()
  }
}

/** What the end of the lease does: it stores or fails, instead of a release. */
interface Ending {
  end(): Promise<unknown>
  /** It stores what was loaded. */
  stores: boolean
}

function leaseOf<Value>(source: Source<Value>, { key, grant }: Election, ending: Ending): KeptLease {
  const { runtime, terms } = source
  return new KeptLease(
    grant,
    {
      kind: kindOf(runtime),
      unit: unitOf(source, key),
      release: () => ending.end().then(() => true),
      resource: resourceOf(source, key),
      leaseMs: terms.leaseMs,
      maxHoldMs: terms.maxLoadMs + terms.leaseMs,
    },
    runtime.keeper,
  )
}

/** The script decides also where the lease has lapsed: nobody else may have begun. */
async function endWith(lease: KeptLease, ending: Ending): Promise<void> {
  if (lease.isLost) await ending.end()
  else await lease.release()
}

/** `unkept`: it was not to be stored, and nothing came between; `outage`: it could not be. */
type Saved = StoreAnswer['status'] | 'unkept' | 'outage'
type Save = () => Promise<Saved>

/** Stores. A store that is away or full loses nothing but the effort. */
async function finish<Value>(
  source: Source<Value>,
  { key, id }: Election,
  lease: KeptLease,
  ending: Ending,
  save: Save,
): Promise<Saved> {
  let saved: Saved = 'outage'
  ending.stores = true
  ending.end = async () => {
    saved = await save()
  }
  try {
    await endWith(lease, ending)
  } catch (error) {
    if (!isOutage(error)) throw error
    giveUp(source, key, id, '').catch(() => undefined)
  }
  return saved
}

/** True when the value holds for everybody: no invalidation came between. */
async function holdsFor<Value>(
  source: Source<Value>,
  { key, grant, tags }: Election,
  saved: Saved,
): Promise<boolean> {
  if (saved !== 'stored' && saved !== 'unkept') return false
  if (saved === 'stored') source.shared.level?.note(valueKeyOf(source, key), grant.token)
  return haveSameTags(source, tags)
}

function tellSaved<Value>({ tell }: Source<Value>, { key }: Election, saved: Saved, loadMs: number): void {
  if (saved === 'revoked' || saved === 'lost' || saved === 'superseded') {
    tell?.({ kind: 'refused', key, loadMs, why: saved })
  } else {
    tell?.({ kind: 'loaded', key, loadMs, stored: saved === 'stored' })
  }
}

/** Those who joined may know of an invalidation that came after the load had begun. */
async function haveSameTags<Value>(source: Source<Value>, tags: Buffer): Promise<boolean> {
  const now = await readTags(source, tagsIn(tags)).catch(() => null)
  return now !== null && now.equals(tags)
}

function toSave<Value>(
  source: Source<Value>,
  { key, id, grant, tags, span }: Election,
  context: LoadContext,
  value: Value,
  loadMs: number,
): Save {
  const { codec, terms } = source
  const encoded = encodeValue(source, value)
  const { version, ...kept } = context.kept(spanOf(source, value, span))
  if (kept.freshMs === 0) return async () => ((await giveUp(source, key, id, '')) ? 'unkept' : 'revoked')
  const unit = unitOf(source, key)
  return async () => {
    const args = {
      codec: codec.name,
      token: grant.token,
      version,
      ...encoded,
      flags: encoded.flags + heldBy(source.shared.level),
      loadMs,
      freshMs: spread(kept.freshMs, terms.jitter),
      staleMs: kept.staleMs,
      ...(await learnTold(unit)),
      tags,
    }
    const { status } = await unit.run(store, args, { atClose: 'gives back' })
    return status
  }
}

function spanOf<Value>({ terms }: Source<Value>, value: Value, span: Span): Span {
  const nothing = value === null || value === undefined
  return nothing && terms.negativeMs >= 0 ? { ...span, freshMs: terms.negativeMs } : span
}

/** Up to this part of it less, by chance. */
export function spread(ms: number, jitter: number): number {
  return Math.max(1, Math.round(ms * (1 - Math.random() * jitter)))
}

/** Gives the lease up; with a reason, it is told to those who wait. False when the load was revoked, or lost. */
export async function giveUp<Value>(
  source: Source<Value>,
  key: string,
  id: string,
  reason: string,
): Promise<boolean> {
  const unit = unitOf(source, key)
  const told = await learnTold(unit)
  const { status } = await unit.run(
    fail,
    { id, restMs: source.terms.restMs, ...told, reason },
    { atClose: 'gives back' },
  )
  return status === 'failed'
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return text.slice(0, LONGEST_REASON) || 'Error'
}
