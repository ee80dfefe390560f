// One get.
//
//   look ──fresh──► HIT: the value
//    ▲ │ ──due──► HIT, and a load in the background
//    │ │ ──stale──► STALE: the same, but the newer value if it arrives within `patience`
//    │ │ ──absent, or not to be read──► MISS: a load, shared with other gets of this process, and waited for
//    │ │             ├──loaded──► the value          ├──rests after a failure──► REFUSED: LoadFailedError
//    │ │             ├──failed──► the error          └──too late──► WaitTimeoutError
//    └─┼─────────────┴──the load was lost, or a joined load is not valid for this get
//      └─ Redis is unavailable ──► OUTAGE: the loader, without Redis
//
// A fresh copy in the L1 of this process is served before all that.

import { LoadFailedError, WaitTimeoutError } from '../runtime/errors/errors.ts'
import { isOutage } from '../runtime/errors/outage.ts'
import { unlessAborted } from '../runtime/time/in-time.ts'
import { settledBy } from '../runtime/time/settled-by.ts'
import type { Envelope } from './envelope.ts'
import { Load } from './load.ts'
import type { Joinable, LoadedBy, LoadOutcome } from './loader.ts'
import { look, type Seen, seenInLevel } from './look.ts'
import type { GetTerms, ServedFrom } from './options.ts'
import { type CacheSource, type Decoded, UNDECODABLE } from './source.ts'

/** The outcome of a get. It separates errors of the loader from errors of the store. */
type GetOutcome<Value> = Extract<LoadOutcome<Value>, { status: 'loaded' | 'failed' }>

export class Get<Value> {
  readonly #source: CacheSource<Value>
  readonly #key: string
  readonly #terms: GetTerms
  /** The loader for an absent value. */
  readonly #absent: LoadedBy<Value>
  /** The loader that refreshes a value which is served meanwhile. */
  readonly #served: LoadedBy<Value>
  /** The end of the waiting, by `performance.now()`. */
  #endsAt = 0

  constructor(
    source: CacheSource<Value>,
    key: string,
    terms: GetTerms,
    absent: LoadedBy<Value>,
    served: LoadedBy<Value> = absent,
  ) {
    this.#source = source
    this.#key = key
    this.#terms = terms
    this.#absent = absent
    this.#served = served
  }

  /** Rejects with WaitTimeoutError, the loader's error, LoadFailedError, DriverError or the signal's reason. */
  async value(): Promise<Value> {
    const { signal, waitMs } = this.#terms
    signal?.throwIfAborted()
    const now = performance.now()
    const kept = this.#source.shared.level === null ? null : this.#freshInLevel(now)
    const copy = kept === null ? UNDECODABLE : this.#source.decodeCopy(this.#key, kept)
    if (copy !== UNDECODABLE) return copy
    this.#endsAt = now + waitMs
    let got: GetOutcome<Value> | null
    try {
      got = await this.#fromRedis()
    } finally {
      this.#absent.passed()
    }
    if (got === null) {
      this.#source.emit?.({ kind: 'outage', key: this.#key })
      return this.#loadLocally()
    }
    if (got.status === 'failed') throw got.error
    return got.value
  }

  /** The fast path: most L1 hits end here. */
  #freshInLevel(now: number): Envelope | null {
    if (this.#source.shared.isAway(now)) return null
    const seen = seenInLevel(this.#source, this.#key, this.#terms.tags, now)
    if (seen === null || seen.worth !== 'fresh') return null
    this.#served.passed()
    this.#absent.passed()
    this.#emitSeen(seen)
    return seen.envelope
  }

  /** Null when Redis is unavailable. */
  async #fromRedis(): Promise<GetOutcome<Value> | null> {
    const { shared } = this.#source
    if (shared.isAway(performance.now())) {
      this.#served.passed()
      return null
    }
    try {
      for (let isFirst = true; ; isFirst = false) {
        const seen = await unlessAborted(look(this.#source, this.#key, this.#terms.tags), this.#terms.signal)
        if (isFirst) this.#emitSeen(seen)
        const got = (await this.#serve(seen)) ?? (await this.#load(seen))
        if (got !== null) return got
      }
    } catch (error) {
      this.#served.passed()
      if (!isOutage(error)) throw error
      if (error.code === 'unreachable' || error.code === 'ambiguous') shared.noteAway()
      return null
    }
  }

  /** Emits the event that counts a hit or miss. */
  #emitSeen({ worth, from }: Seen): void {
    const { emit } = this.#source
    if (worth === 'absent') emit?.({ kind: 'absent', key: this.#key })
    else emit?.({ kind: worth === 'stale' ? 'stale' : 'fresh', key: this.#key, from })
  }

  /** Hit or stale: the cached value, or a newer one within `patience`. Null when no value can be served. */
  #serve(seen: Seen): GetOutcome<Value> | Promise<GetOutcome<Value>> | null {
    const value = seen.envelope === null ? UNDECODABLE : this.#decode(seen.envelope, seen.from)
    if (value === UNDECODABLE) return null
    const there = { status: 'loaded', value, holds: true } as const
    const load = seen.worth === 'fresh' ? null : this.#refresh(seen)
    if (load === null) this.#served.passed()
    const { patienceMs } = this.#source.terms
    if (load === null || seen.worth === 'due' || patienceMs === 0) return there
    return this.#newerOr(there, load, Math.min(performance.now() + patienceMs, this.#endsAt))
  }

  #decode(envelope: Envelope, from: ServedFrom): Decoded<Value> {
    return from === 'process'
      ? this.#source.decodeCopy(this.#key, envelope)
      : this.#source.decode(this.#key, envelope)
  }

  async #newerOr(there: GetOutcome<Value>, load: Joinable<Value>, by: number): Promise<GetOutcome<Value>> {
    const outcome = load.outcome.catch(() => null)
    const newer = await settledBy(outcome, by, this.#terms.signal)
    return newer?.status === 'loaded' && newer.holds ? newer : there
  }

  /** A load in the background; null while another load is pointless. */
  #refresh(seen: Seen): Joinable<Value> | null {
    const { shared, terms } = this.#source
    const name = this.#name
    const token = seen.envelope?.token ?? 0
    const joined = shared.loads.get(name)
    if (joined !== undefined) {
      this.#served.passed()
      return joined
    }
    if (shared.isQuiet(name, token)) return null
    const load = this.#begin(this.#served, seen, 0)
    const hush = (ms: number): void => shared.hush(name, token, ms)
    load.outcome.then((outcome) => restAfter(outcome, terms.restMs, hush)).catch(() => hush(terms.restMs))
    return load
  }

  /** Miss. Null when the key must be read again. An undecodable value is replaced by the load. */
  async #load(seen: Seen): Promise<GetOutcome<Value> | null> {
    this.#served.passed()
    const joined = this.#source.shared.loads.get(this.#name)
    const load = joined ?? this.#begin(this.#absent, seen, this.#endsAt)
    if (joined !== undefined) this.#absent.passed()
    const outcome = await settledBy(load.outcome, this.#endsAt, this.#terms.signal)
    if (outcome === null) throw this.#tooLate()
    if (outcome.status === 'failed') return outcome
    if (outcome.status === 'loaded' && (joined === undefined || outcome.holds)) return outcome
    if (outcome.status === 'elsewhere' && joined === undefined) throw this.#resting()
    if (performance.now() >= this.#endsAt) throw this.#tooLate()
    return null
  }

  #begin(by: LoadedBy<Value>, { tags: block, envelope }: Seen, endsAt: number): Joinable<Value> {
    const { loads } = this.#source.shared
    const { span, tags } = this.#terms
    const name = this.#name
    const forget = (): void => {
      if (loads.get(name) === load) loads.delete(name)
    }
    const load: Load<Value> = new Load(this.#source, {
      key: this.#key,
      span,
      tags,
      block,
      seen: envelope?.token ?? 0,
      endsAt,
      work: { loader: by.loader, storing: forget },
      passed: by.passed,
    })
    loads.set(name, load)
    load.outcome.then(forget, forget)
    return load
  }

  /** The loader, without Redis. */
  async #loadLocally(): Promise<Value> {
    const { runtime, terms, shared } = this.#source
    const resource = this.#source.resourceOf(this.#key)
    const loading = shared.local.load(this.#key, this.#absent.loader, {
      terms,
      runtime,
      resource,
      kind: this.#source.decoding.kind,
    })
    const value = loading.value.then((loaded) => ({ value: loaded }))
    const got = await settledBy(value, this.#endsAt, this.#terms.signal).finally(() => loading.leave())
    if (got === null) throw this.#tooLate()
    return got.value
  }

  /** Loads with the same name can be joined. */
  get #name(): string {
    const { tags } = this.#terms
    return [this.#source.decoding.kind, this.#key, ...tags].join('\0')
  }

  /** Only if a value exists: without one, the next get after a failure tries again. */
  #resting(): LoadFailedError {
    return new LoadFailedError(
      this.#source.resourceOf(this.#key),
      'a load failed just now, and the cached value cannot be decoded',
    )
  }

  #tooLate(): WaitTimeoutError {
    return new WaitTimeoutError(this.#source.resourceOf(this.#key), `${this.#terms.waitMs} ms`)
  }
}

/** Suppresses further refreshes by gets that saw the same value. */
function restAfter(outcome: LoadOutcome<unknown>, restMs: number, hush: (ms: number) => void): void {
  if (outcome.status === 'elsewhere') hush(outcome.ms)
  else if (outcome.status === 'failed') hush(restMs)
}
