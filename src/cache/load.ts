// Gets a value that must be loaded, by this process or by another one that already loads it.
//
//   ELECTING ──found──► loaded: another process stored it meanwhile
//    ▲ │ │ ├──failed──► failed: the load that this one waited for
//    │ │ │ └──loading or resting, and it does not wait──► elsewhere
//    │ │ └──loading──► WAITING: listens and asks again at once, under the same id; then after a message, or at the lease end
//    │ │                 │ └──its time is over──► late
//    └─┼─────────────────┘
//      └──elected──► RUNNING the loader, under the lease, which the end of a load gives back
//                      │ │ │ └──the instance closes──► given back at once: another process may load
//                      │ │ └──the loader throws──► FAILING: all waiters are notified ──► failed
//                      │ └──the lease is lost, or revoked──► FAILING ──► lost: callers that still wait begin again
//                      └──found──► STORING ──stored──► loaded, for all callers
//                                     └──refused: revoked, superseded, lost──► loaded, only for the starter of the load
//
// The id makes an election safe to repeat. A refresh of a value that may still be served does not wait.

import { type ElectAnswer, elect, extend, type StoreAnswer, store } from '../generated/cache.ts'
import { closed } from '../runtime/calls/runner.ts'
import { toRefusals } from '../runtime/calls/script-errors.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { LeaseLostError, LoadFailedError } from '../runtime/errors/errors.ts'
import { didNotHappen, isOutage } from '../runtime/errors/outage.ts'
import { cut, summaryOf } from '../runtime/errors/thrown.ts'
import { askingAt, type Grant, toGrant } from '../runtime/keeper/grant.ts'
import type { LeaseKind } from '../runtime/keeper/lease-keeper.ts'
import { KeptLease } from '../runtime/leases/kept-lease.ts'
import type { Post } from '../runtime/subscriptions/mailbox.ts'
import { type Opening, openWithin } from '../runtime/subscriptions/open-within.ts'
import { settledBy } from '../runtime/time/settled-by.ts'
import { type Look, lookOrSleep } from '../runtime/waiting/look-or-sleep.ts'
import { learnNotifyChannel } from '../runtime/waiting/notify-channel.ts'
import { Envelope } from './envelope.ts'
import { inMaxLoad, type Joinable, LoadContext, type Loader, type LoadOutcome } from './loader.ts'
import { type Span, spanOf, spread } from './options.ts'
import { type CacheSource, type EncodedValue, UNDECODABLE } from './source.ts'
import { tagsIn } from './tags.ts'

export interface LoadTerms<Value> {
  readonly key: string
  readonly span: Span
  readonly tags: readonly string[]
  /** The current generations of the tags. */
  readonly block: Buffer
  /** The token of the value to replace; 0: none. */
  readonly seen: number
  /** When the waiting for another process ends, by `performance.now()`; 0: do not wait. */
  readonly endsAt: number
  /** The work of an elected process. */
  readonly work: RunWork<Value> | DetachedWork
  /** Called when another process loads, or there is nothing to load. */
  passed(): void
}

interface RunWork<Value> {
  readonly loader: Loader<Value>
  /** Called before the value is stored: a later caller must not join, because it may know of a newer invalidation. */
  storing(): void
}

/** The load is detached: a loader outside this process does it. */
interface DetachedWork {
  detach(election: LoadElection): void
}

export interface LoadElection {
  readonly key: string
  readonly id: string
  readonly grant: Grant
  /** The generations before the load. */
  readonly tags: Buffer
  readonly span: Span
  /** A cached value exists and may be served meanwhile. */
  readonly replaces: boolean
}

const RECHECKS = { heardMs: 5000, unheardMs: 250 }

/** A load requested by this process; other callers in the process may join it. */
export class Load<Value> implements Joinable<Value> {
  readonly #source: CacheSource<Value>
  readonly #terms: LoadTerms<Value>
  readonly #id: string
  #waited = 0
  /** Rejects when the server cannot decide. */
  readonly outcome: Promise<LoadOutcome<Value>>

  constructor(source: CacheSource<Value>, terms: LoadTerms<Value>) {
    this.#source = source
    this.#terms = terms
    this.#id = source.runtime.mailbox.newId()
    this.outcome = this.#untilSettled().finally(() => terms.passed())
  }

  async #untilSettled(): Promise<LoadOutcome<Value>> {
    const { block, tags, endsAt } = this.#terms
    const first = await this.#look(block, null)
    if (first.found) return first.value
    const opening = await this.#listen()
    const again = async (post: Post | null): Promise<Look<LoadOutcome<Value>>> =>
      this.#look((await this.#source.readGenerations(tags)).tags, post)
    const { deadlines } = this.#source.runtime.runner
    try {
      return await lookOrSleep(again, { opening, endsAt, rechecks: RECHECKS, deadlines, signal: undefined })
    } finally {
      opening.close()
    }
  }

  /** `found`: the load is settled. Otherwise another process loads, until its lease ends. */
  async #look(block: Buffer, post: Post | null): Promise<Look<LoadOutcome<Value>>> {
    const askedAt = askingAt()
    const answer = await this.#elect(block, post !== null)
    this.#source.runtime.clock.note(answer.nowMs, askedAt)
    if (answer.status === 'elected') return settled(await this.#elected(answer, block, askedAt))
    this.#terms.passed()
    if (answer.status === 'found') return settled(this.#found(answer.envelope))
    if (answer.status === 'failed') return settled(this.#failed(answer.reason))
    const { endsAt } = this.#terms
    if (answer.status === 'resting' || endsAt === 0) {
      return settled({ status: 'elsewhere', ms: answer.retryAfterMs })
    }
    this.#waited = answer.token
    return {
      value: { status: 'late' },
      found: performance.now() >= endsAt,
      recheckMs: answer.retryAfterMs + 1,
    }
  }

  async #elect(tags: Buffer, waits: boolean): Promise<ElectAnswer> {
    const { codec, terms } = this.#source
    const { key, seen } = this.#terms
    const args = {
      id: this.#id,
      codec: codec.name,
      leaseMs: terms.leaseMs,
      seen,
      waited: this.#waited,
      waits,
      tags,
    }
    try {
      return await this.#source.unitOf(key).run(elect, args, { by: performance.now() + terms.storeMs })
    } catch (error) {
      if (!didNotHappen(error)) abandon(this.#source, key, this.#id)
      // The script may have stopped half-way, because a permission is missing.
      else if (!isOutage(error)) this.#source.giveUp(key, this.#id).catch(() => undefined)
      throw error
    }
  }

  async #elected(
    answer: Extract<ElectAnswer, { status: 'elected' }>,
    tags: Buffer,
    askedAt: number,
  ): Promise<LoadOutcome<Value>> {
    const { key, span, work, seen } = this.#terms
    const election = { key, id: this.#id, grant: toGrant(answer, askedAt), tags, span, replaces: seen > 0 }
    if ('loader' in work) return new ElectedLoad(this.#source, election).run(work)
    work.detach(election)
    return { status: 'lost' }
  }

  /**
   * The server has confirmed that the value may be served: it reflects every invalidation that a caller can know of.
   */
  #found(bytes: Buffer): LoadOutcome<Value> {
    const { key } = this.#terms
    const envelope = new Envelope(bytes)
    this.#source.expectToRead(key, bytes)
    // A caller that has seen this value must never see an older one.
    this.#source.shared.level?.note(this.#source.valueKeyOf(key), envelope.token)
    const value = this.#source.decode(key, envelope)
    return value === UNDECODABLE ? { status: 'lost' } : { status: 'loaded', value, holds: false }
  }

  #failed(reason: string): LoadOutcome<Value> {
    return { status: 'failed', error: new LoadFailedError(this.#source.resourceOf(this.#terms.key), reason) }
  }

  /** Events before the subscription are missed, so the election is asked again at once. */
  #listen(): Promise<Opening<Post>> {
    const { mailbox } = this.#source.runtime
    const unit = this.#source.unitOf(this.#terms.key)
    const open = async (): Promise<Post> => mailbox.expect((await learnNotifyChannel(unit)).channel, this.#id)
    return openWithin(mailbox.reopeningAt(unit.node), open, this.#terms.endsAt - performance.now())
  }
}

function settled<Value>(value: LoadOutcome<Value>): Look<LoadOutcome<Value>> {
  return { value, found: true, recheckMs: 0 }
}

/** The election may have happened, or may still happen, without a loader. Holds no reference to the load. */
function abandon<Value>(source: CacheSource<Value>, key: string, id: string): void {
  const say = (): Promise<unknown> => source.giveUp(key, id)
  source.unitOf(key).lastWord(id, say, true)
}

/** The call that ends the lease, by state. */
type LoadState =
  /** Another process may load. */
  | { readonly status: 'running' }
  | { readonly status: 'storing'; readonly found: LoadedValue }
  /** Waiters fail with the reason; without a reason, the next waiter loads. */
  | { readonly status: 'failing'; readonly reason: string }

/** The result of the loader, with its own TTL and version. */
interface LoadedValue extends EncodedValue, Span {
  readonly version: number
  readonly loadMs: number
}

/** `unkept`: the value was not to be stored, and nothing revoked the load; `outage`: it could not be stored. */
type SaveStatus = StoreAnswer['status'] | 'unkept' | 'outage'

const LONGEST_REASON_BYTES = 1000

/** The work of an elected process: runs the loader under the lease and stores its result. */
class ElectedLoad<Value> {
  readonly #source: CacheSource<Value>
  readonly #election: LoadElection
  readonly #lease: KeptLease
  readonly #aborter = new AbortController()
  readonly #beganAt = performance.now()
  #state: LoadState = { status: 'running' }
  #saved: SaveStatus = 'outage'

  constructor(source: CacheSource<Value>, election: LoadElection) {
    this.#source = source
    this.#election = election
    this.#lease = this.#keepLease()
    this.#lease.heed(this.#aborter.signal)
  }

  /** Does not reject. */
  async run({ loader, storing }: RunWork<Value>): Promise<LoadOutcome<Value>> {
    const { key, grant } = this.#election
    const context = new LoadContext(key, grant.token, () => this.#lease.signal)
    const forget = this.#source.runtime.atClose(() => this.#giveBackAtClose())
    try {
      const value = await inMaxLoad(() => loader(context), this.#source.terms.maxLoadMs, this.#aborter)
      const found = this.#toFound(value, context)
      storing()
      const saved = await this.#store(found)
      this.#emitSaved(saved, found.loadMs)
      return { status: 'loaded', value, holds: await this.#holds(saved) }
    } catch (error) {
      return await this.#fail(error)
    } finally {
      forget()
    }
  }

  /** Throws InvalidArgumentError when the value cannot be stored. */
  #toFound(value: Value, context: LoadContext): LoadedValue {
    const loadMs = this.#tookMs
    const span = spanOf(value, this.#source.terms, this.#election.span)
    return { ...this.#source.encode(value), ...context.kept(span), loadMs }
  }

  /** If the store is unavailable or full, only the work of the load is lost. */
  async #store(found: LoadedValue): Promise<SaveStatus> {
    this.#state = { status: 'storing', found }
    await this.#inTime(this.#endLease().catch((cause: unknown) => this.#giveUpUnstored(cause)))
    return this.#saved
  }

  #giveUpUnstored(cause: unknown): void {
    if (!isOutage(cause)) throw cause
    const { key, id } = this.#election
    this.#source.giveUp(key, id).catch(() => undefined)
  }

  async #fail(thrown: unknown): Promise<LoadOutcome<Value>> {
    if (this.#source.runtime.runner.closed) return { status: 'failed', error: closed() }
    // What the server refused to store was not lost: another load would fail in the same way.
    const isLost = this.#lease.remainingMs === 0 && this.#state.status !== 'storing'
    this.#source.emit?.({ kind: 'failed', key: this.#election.key, loadMs: this.#tookMs, error: thrown })
    const reason = isLost ? '' : cut(summaryOf(thrown), LONGEST_REASON_BYTES)
    this.#state = { status: 'failing', reason }
    await this.#inTime(this.#endLease()).catch(() => undefined)
    return isLost ? { status: 'lost' } : { status: 'failed', error: thrown }
  }

  /** The script decides also after the lease has lapsed, because another load may not have begun. */
  #endLease(): Promise<unknown> {
    return this.#lease.isLost ? this.#end() : this.#lease.end()
  }

  /** The call that ends the lease, instead of a release. */
  #end(): Promise<unknown> {
    const { key, id } = this.#election
    if (this.#state.status === 'storing') return this.#save(this.#state.found)
    const reason = this.#state.status === 'failing' ? this.#state.reason : ''
    return this.#source.giveUp(key, id, reason)
  }

  async #save(found: LoadedValue): Promise<void> {
    const { key, id, grant, replaces } = this.#election
    // A stored value that may still be served must be removed: it is replaced by one that expires at once.
    if (found.ttlMs > 0 || replaces) this.#saved = await this.#send(found)
    else this.#saved = (await this.#source.giveUp(key, id)) ? 'unkept' : 'revoked'
    if (this.#saved === 'stored') this.#source.shared.level?.note(this.#source.valueKeyOf(key), grant.token)
  }

  async #send({ flags, ttlMs, ...found }: LoadedValue): Promise<StoreAnswer['status']> {
    const { codec, terms } = this.#source
    const { key, grant, tags } = this.#election
    const unit = this.#source.unitOf(key)
    const args = {
      ...found,
      codec: codec.name,
      token: grant.token,
      flags: flags + this.#source.heldFlag,
      ttlMs: spread(ttlMs, terms.jitter),
      ...(await learnNotifyChannel(unit)),
      tags,
    }
    this.#source.expectToRead(key, found.payload)
    return (await unit.run(store, args, { atClose: 'gives back' })).status
  }

  /** The caller waits no longer than `storeWithin`; the call that ends the load continues. */
  async #inTime(end: Promise<unknown>): Promise<void> {
    await settledBy(end, performance.now() + this.#source.terms.storeMs)
  }

  /** True when the value is valid for all callers: no invalidation happened that a joined caller may know of. */
  async #holds(saved: SaveStatus): Promise<boolean> {
    if (saved !== 'stored' && saved !== 'unkept') return false
    const { tags } = this.#election
    const now = await this.#source.readGenerations(tagsIn(tags)).catch(() => null)
    return now !== null && now.tags.equals(tags)
  }

  #emitSaved(saved: SaveStatus, loadMs: number): void {
    const { key } = this.#election
    if (saved === 'revoked' || saved === 'lost' || saved === 'superseded') {
      this.#source.emit?.({ kind: 'refused', key, loadMs, why: saved })
    } else {
      this.#source.emit?.({ kind: 'loaded', key, loadMs, stored: saved === 'stored' })
    }
  }

  /** A value that is being stored is not given back. */
  #giveBackAtClose(): Promise<void> | undefined {
    if (this.#state.status === 'storing') return undefined
    const { key, grant } = this.#election
    this.#aborter.abort(new LeaseLostError(this.#source.resourceOf(key), grant.token, { cause: closed() }))
    return this.#lease.release()
  }

  get #tookMs(): number {
    return Math.round(performance.now() - this.#beganAt)
  }

  #keepLease(): KeptLease {
    const { runtime, terms } = this.#source
    const { key, grant } = this.#election
    return new KeptLease(
      grant,
      {
        kind: loadLeasesOf(runtime),
        unit: this.#source.unitOf(key),
        release: () => this.#end().then(() => true),
        resource: this.#source.resourceOf(key),
        leaseMs: terms.leaseMs,
        maxHoldMs: terms.maxLoadMs + terms.leaseMs,
        countsLapsed: true,
      },
      runtime.keeper,
    )
  }
}

/** Extends the loads of this process, of all caches together: all that share a slot in one call. */
export function loadLeasesOf(runtime: Runtime): LeaseKind {
  return {
    name: 'cache',
    async extend(leases, trace) {
      const keys = leases.map(({ beginning }) => `${beginning}load`)
      const answer = await runtime.runner.run(extend, keys, { leases }, trace)
      return { nowMs: answer.nowMs, endsAtMs: answer.leases, refused: toRefusals(answer.refused, extend) }
    },
  }
}
