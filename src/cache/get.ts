// One get.
//
//   look ──fresh──► the value
//     ▲ │ ──fresh or stale, and not to be read──► as absent: a load, in the place of that
//     ▲ │ ──due──► the value, and a load in the background
//     │ │ ──stale──► the same, but the newer value when it is there within `patience`
//     │ │ ──absent──► a load, joined with those of this process who want it too
//     │ └─ Redis is away ──► the loader, without Redis
//     └── the load was lost, or one that was joined does not hold for this one

import { LoadFailedError, WaitTimeoutError } from '../runtime/errors/errors.ts'
import { unlessAborted } from '../runtime/time/in-time.ts'
import { isOutage } from '../runtime/errors/outage.ts'
import type { Envelope } from './envelope.ts'
import { Load } from './load.ts'
import { look, type Seen, seenInLevel, tellSeen } from './look.ts'
import type { Joinable, LoadOutcome, Outcome } from './outcome.ts'
import { type Decoded, decodeCopy, decodeValue, resourceOf, type Source, UNDECODABLE } from './source.ts'
import { settledBy } from './settled-by.ts'
import { type LoadedBy, nameOf, type Wanted } from './wanted.ts'

/** How a get ends. The error of a loader is kept apart from those of the store. */
type Got<Value> = Exclude<Outcome<Value>, { status: 'lost' }>

/** Rejects with WaitTimeoutError, the loader's error, LoadFailedError, DriverError or the signal's reason. */
export async function getValue<Value>(source: Source<Value>, wanted: Wanted<Value>): Promise<Value> {
  const { signal, waitMs } = wanted.terms
  signal?.throwIfAborted()
  const now = performance.now()
  const kept = source.shared.level === null ? null : freshInLevel(source, wanted, now)
  const copy = kept === null ? UNDECODABLE : decodeCopy(source, wanted.key, kept)
  if (copy !== UNDECODABLE) return copy
  const endsAt = now + waitMs
  let got: Got<Value> | null
  try {
    got = await fromRedis(source, wanted, endsAt)
  } finally {
    wanted.absent.passed()
  }
  if (got === null) {
    source.tell?.({ kind: 'outage', key: wanted.key })
    return loadLocally(source, wanted, endsAt)
  }
  if (got.status === 'failed') throw got.error
  return got.value
}

/** The short way: most hits of a level end here. */
function freshInLevel<Value>(source: Source<Value>, wanted: Wanted<Value>, now: number): Envelope | null {
  if (source.shared.isAway(now)) return null
  const seen = seenInLevel(source, wanted.key, wanted.terms.tags, now)
  if (seen === null || seen.worth !== 'fresh') return null
  wanted.served.passed()
  wanted.absent.passed()
  tellSeen(source, wanted.key, seen)
  return seen.envelope
}

/** Null when Redis cannot decide. */
async function fromRedis<Value>(
  source: Source<Value>,
  wanted: Wanted<Value>,
  endsAt: number,
): Promise<Got<Value> | null> {
  const { shared } = source
  if (shared.isAway(performance.now())) {
    wanted.served.passed()
    return null
  }
  try {
    for (let isFirst = true; ; isFirst = false) {
      const seen = await unlessAborted(look(source, wanted.key, wanted.terms.tags), wanted.terms.signal)
      if (isFirst) tellSeen(source, wanted.key, seen)
      const got = await settleSeen(source, wanted, seen, endsAt)
      if (got !== null) return got
    }
  } catch (error) {
    wanted.served.passed()
    if (!isOutage(error)) throw error
    if (error.code === 'unreachable' || error.code === 'ambiguous') shared.noteAway()
    return null
  }
}

/** Null when it is time to look again. */
function settleSeen<Value>(
  source: Source<Value>,
  wanted: Wanted<Value>,
  seen: Seen,
  endsAt: number,
): Got<Value> | Promise<Got<Value> | null> {
  const value = seen.envelope === null ? UNDECODABLE : decodeSeen(source, wanted, seen, seen.envelope)
  if (seen.envelope !== null && value !== UNDECODABLE)
    return serve(source, wanted, seen, { value, token: seen.envelope.token })
  wanted.served.passed()
  return loadAbsent(source, wanted, seen, endsAt)
}

function decodeSeen<Value>(
  source: Source<Value>,
  { key }: Wanted<Value>,
  { from }: Seen,
  envelope: Envelope,
): Decoded<Value> {
  return from === 'process' ? decodeCopy(source, key, envelope) : decodeValue(source, key, envelope)
}

/** The value that is there, or a newer one where that is worth waiting for. */
function serve<Value>(
  source: Source<Value>,
  wanted: Wanted<Value>,
  seen: Seen,
  { value, token }: { readonly value: Value; readonly token: number },
): Got<Value> | Promise<Got<Value>> {
  const there = { status: 'loaded', value, holds: true } as const
  const load = seen.worth === 'fresh' ? null : refresh(source, wanted, seen, token)
  if (load === null) wanted.served.passed()
  const { patienceMs } = source.terms
  if (load === null || seen.worth === 'due' || patienceMs === 0) return there
  return newerOr(there, load, performance.now() + patienceMs, wanted.terms.signal)
}

async function newerOr<Value>(
  there: Got<Value>,
  load: Joinable<Value>,
  by: number,
  signal: AbortSignal | undefined,
): Promise<Got<Value>> {
  const newer = await settledBy(
    load.outcome.catch(() => null),
    by,
    signal,
  )
  return newer?.status === 'loaded' && newer.holds ? newer : there
}

/** A load in the background; null when there is no point in one just now. */
function refresh<Value>(
  source: Source<Value>,
  wanted: Wanted<Value>,
  seen: Seen,
  token: number,
): Joinable<Value> | null {
  const { shared } = source
  const name = nameOf(wanted)
  const joined = shared.loads.get(name)
  if (joined !== undefined) {
    wanted.served.passed()
    return joined
  }
  if (shared.isQuiet(name, token)) return null
  const load = begin(source, wanted, wanted.served, { block: seen.tags, seen: token, endsAt: 0 })
  const { restMs } = source.terms
  const hush = (ms: number): void => shared.hush(name, token, ms)
  load.outcome.then((outcome) => restAfter(outcome, restMs, hush)).catch(() => hush(restMs))
  return load
}

/** Whoever saw the same value need not ask for another one just now. */
function restAfter(outcome: LoadOutcome<unknown>, restMs: number, hush: (ms: number) => void): void {
  if (outcome.status === 'elsewhere') hush(outcome.ms)
  else if (outcome.status === 'failed') hush(restMs)
}

/** Null when it is time to look again. What is there and cannot be read is to be replaced. */
async function loadAbsent<Value>(
  source: Source<Value>,
  wanted: Wanted<Value>,
  seen: Seen,
  endsAt: number,
): Promise<Got<Value> | null> {
  const joined = source.shared.loads.get(nameOf(wanted))
  const unread = seen.envelope?.token ?? 0
  const load = joined ?? begin(source, wanted, wanted.absent, { block: seen.tags, seen: unread, endsAt })
  if (joined !== undefined) wanted.absent.passed()
  const outcome = await settledBy(load.outcome, endsAt, wanted.terms.signal)
  if (outcome === null) throw tooLate(source, wanted)
  if (outcome.status === 'elsewhere' && joined === undefined) throw resting(source, wanted)
  const got = toGot(outcome, joined === undefined)
  if (got === null && performance.now() >= endsAt) throw tooLate(source, wanted)
  return got
}

/** What the outcome is for one who began the load himself, or joined it; null when it is nothing to him. */
function toGot<Value>(outcome: LoadOutcome<Value>, isOwn: boolean): Got<Value> | null {
  if (outcome.status === 'failed') return outcome
  if (outcome.status === 'loaded' && (isOwn || outcome.holds)) return outcome
  return null
}

/** Only where something is there: else whoever comes after a failure tries again. */
function resting<Value>(source: Source<Value>, { key }: Wanted<Value>): LoadFailedError {
  return new LoadFailedError(
    resourceOf(source, key),
    'a load failed just now, and what is kept cannot be decoded',
  )
}

function tooLate<Value>(source: Source<Value>, { key, terms }: Wanted<Value>): WaitTimeoutError {
  return new WaitTimeoutError(resourceOf(source, key), `${terms.waitMs} ms`)
}

function begin<Value>(
  source: Source<Value>,
  wanted: Wanted<Value>,
  { loader, passed }: LoadedBy<Value>,
  how: { block: Buffer; seen: number; endsAt: number },
): Joinable<Value> {
  const { loads } = source.shared
  const { key, terms } = wanted
  const name = nameOf(wanted)
  const forget = (): void => {
    if (loads.get(name) === load) loads.delete(name)
  }
  const { span, tags } = terms
  const load: Load<Value> = new Load(source, { key, loader, span, tags, passed, storing: forget, ...how })
  loads.set(name, load)
  load.outcome.then(forget, forget)
  return load
}

/** The loader, without Redis. */
async function loadLocally<Value>(
  source: Source<Value>,
  wanted: Wanted<Value>,
  endsAt: number,
): Promise<Value> {
  const { runtime, terms, shared } = source
  const resource = resourceOf(source, wanted.key)
  const loading = shared.local.load(wanted.key, wanted.absent.loader, { terms, runtime, resource })
  const got = await settledBy(
    loading.value.then((value) => ({ value })),
    endsAt,
    wanted.terms.signal,
  ).finally(() => loading.leave())
  if (got === null) throw tooLate(source, wanted)
  return got.value
}
