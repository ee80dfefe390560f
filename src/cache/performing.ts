// What an elected process does: it runs the loader under the lease, and stores what that found.
//
//   ELECTED ──loader──► found ──store──► STORED: everybody gets it
//      │                          └─revoked, superseded, lost──► REFUSED: only who began the load may have it
//      ├──the loader throws──► fail ──► FAILED: everybody who waits is told
//      ├──the lease is lost, or revoked──► LOST: whoever still wants the value begins again
//      └──the instance closes──► given back at once: another process may load

import { LeaseLostError } from '../runtime/errors/errors.ts'
import { isOutage } from '../runtime/errors/outage.ts'
import { KeptLease } from '../runtime/leases/kept-lease.ts'
import { closed } from '../runtime/calls/runner.ts'
import { cut, summaryOf } from '../runtime/errors/thrown.ts'
import { kindOf } from './keeping.ts'
import { inMaxLoad, LoadContext, type Loader } from './loader.ts'
import { readTags } from './look.ts'
import type { Outcome } from './outcome.ts'
import { type Election, giveUp, type Save, type Saved, toSave } from './saving.ts'
import { settledBy } from './settled-by.ts'
import { resourceOf, type Source, unitOf, valueKeyOf } from './source.ts'
import { tagsIn } from './tags.ts'

/** Who loads, and is told before that is stored. */
export interface Performer<Value> {
  readonly loader: Loader<Value>
  storing(): void
}

const LONGEST_REASON_BYTES = 1000

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
    aborter.abort(
      new LeaseLostError(resourceOf(source, election.key), election.grant.token, { cause: closed() }),
    )
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
    ending.end = () =>
      giveUp(source, election.key, election.id, lost ? '' : cut(summaryOf(error), LONGEST_REASON_BYTES))
    await inTime(source, endWith(lease, ending)).catch(() => undefined)
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
  else await lease.end()
}

/** Nobody waits longer for a store that is away; what ends the load goes on. */
async function inTime<Value>({ terms }: Source<Value>, end: Promise<void>): Promise<void> {
  await settledBy(end, performance.now() + terms.storeMs)
}

/** Stores. A store that is away or full loses nothing but the effort. */
async function finish<Value>(
  source: Source<Value>,
  { key, id, grant }: Election,
  lease: KeptLease,
  ending: Ending,
  save: Save,
): Promise<Saved> {
  let saved: Saved = 'outage'
  ending.stores = true
  ending.end = async () => {
    saved = await save()
    if (saved === 'stored') source.shared.level?.note(valueKeyOf(source, key), grant.token)
  }
  const ended = endWith(lease, ending).catch((error: unknown) => {
    if (!isOutage(error)) throw error
    giveUp(source, key, id, '').catch(() => undefined)
  })
  await inTime(source, ended)
  return saved
}

/** True when the value holds for everybody: no invalidation came between. */
async function holdsFor<Value>(source: Source<Value>, { tags }: Election, saved: Saved): Promise<boolean> {
  return (saved === 'stored' || saved === 'unkept') && haveSameTags(source, tags)
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
