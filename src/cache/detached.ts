// Detached loads, by a loader outside this process such as the client of a service: this process neither runs the
// loader nor extends its lease. An opaque text holds the data that ends such a load; the loader passes it back.

import { store } from '../generated/cache.ts'
import { checkInteger, checkOptions } from '../runtime/values/arguments.ts'
import { type Duration, toMs } from '../runtime/values/duration.ts'
import { InvalidArgumentError, LeaseLostError } from '../runtime/errors/errors.ts'
import { abortable } from '../runtime/time/in-time.ts'
import { type Extended, extendByToken } from '../runtime/leases/lease-by-token.ts'
import { checkName } from '../runtime/values/keys.ts'
import { messageOf } from '../runtime/errors/thrown.ts'
import { settledBy } from '../runtime/time/settled-by.ts'
import { learnNotifyChannel } from '../runtime/waiting/notify-channel.ts'
import { toWaitMs, type Waiting } from '../runtime/waiting/wait.ts'
import { Load, type LoadElection, loadLeasesOf } from './load.ts'
import { checkVersion } from './loader.ts'
import { type FoundValue, look, type Seen, toFound } from './look.ts'
import { type Freshness, spanOf, spread, toSpan } from './options.ts'
import type { CacheSource } from './source.ts'
import { checkTags } from './tags.ts'
import type { WasSet } from './write.ts'

/** `wait`: how long to wait for a load under way when no value may be served. */
export interface LoadDetachedOptions extends Waiting {
  /** The tags of the value, as in `get`. Default: none. */
  tags?: readonly string[]
}

/** Options for a value that was loaded elsewhere. */
export interface EndLoadOptions extends Freshness {
  /** The version of the value, as in `set`. Default: none. */
  version?: number
}

export type DetachedLoad<Value> =
  | ({ readonly status: 'found' } & FoundValue<Value>)
  /** The caller is elected: it loads the value, and ends the load with the text in `load`. */
  | {
      readonly status: 'elected'
      /** An opaque text that `byToken` takes to end or extend the load. */
      readonly load: string
      /** Greater than that of every earlier load of the key. */
      readonly token: number
      /** The length of the lease in milliseconds. */
      readonly leaseMs: number
      /** When the lease ends, in milliseconds of the server's clock. */
      readonly expiresAtMs: number
    }
  /** Another load is under way; its lease ends after `retryAfterMs` unless it is extended. */
  | { readonly status: 'loading'; readonly retryAfterMs: number }
  /** The load under way failed with this reason. */
  | { readonly status: 'failed'; readonly reason: string }

/** The data that ends a load. */
interface Handle {
  readonly token: number
  readonly id: string
  readonly tags: Buffer
  /** When it began, by the server's clock. */
  readonly beganAtMs: number
}

/** Rejects with the signal's reason. */
export async function loadDetached<Value>(
  source: CacheSource<Value>,
  key: string,
  options: LoadDetachedOptions,
): Promise<DetachedLoad<Value>> {
  checkOptions('options', options, ['tags', 'wait', 'signal'])
  const waitMs = toWaitMs(options)
  const endsAt = performance.now() + waitMs
  const tags = checkTags(options.tags)
  for (;;) {
    const seen = await abortable(() => look(source, key, tags), options.signal)
    const found = foundIn(source, key, seen)
    if (found !== null && seen.worth === 'fresh') return found
    const asked = { key, tags, seen, found, endsAt: found === null && waitMs > 0 ? endsAt : 0 }
    const answer = await askToLoad(source, asked, options.signal)
    if (answer !== null) return answer
  }
}

interface DetachedQuestion<Value> {
  readonly key: string
  readonly tags: readonly string[]
  readonly seen: Seen
  /** The value that may be served. */
  readonly found: DetachedLoad<Value> | null
  /** 0: do not wait. */
  readonly endsAt: number
}

/** Null when the key must be read again. */
async function askToLoad<Value>(
  source: CacheSource<Value>,
  asked: DetachedQuestion<Value>,
  signal: AbortSignal | undefined,
): Promise<DetachedLoad<Value> | null> {
  const { found, endsAt } = asked
  const loader = new DetachedLoader(source, asked)
  const by = Math.max(endsAt, performance.now()) + 2 * source.terms.storeMs
  const outcome = await settledBy(loader.load.outcome, by, signal).finally(() => loader.leave())
  if (loader.answer !== null) return loader.answer
  if (outcome?.status === 'failed') return { status: 'failed', reason: messageOf(outcome.error) }
  // `lost`: the value that was found cannot be decoded.
  if (outcome?.status === 'loaded' || outcome?.status === 'lost') return null
  if (found !== null) return found
  const retryAfterMs = outcome?.status === 'elsewhere' ? outcome.ms : source.terms.leaseMs
  return { status: 'loading', retryAfterMs }
}

/** A caller that asks to be elected; an election that arrives after the caller has left is given back. */
class DetachedLoader<Value> {
  answer: DetachedLoad<Value> | null = null
  readonly load: Load<Value>
  #left = false

  constructor(source: CacheSource<Value>, { key, tags, seen, endsAt }: DetachedQuestion<Value>) {
    this.load = new Load(source, {
      key,
      tags,
      endsAt,
      span: source.terms,
      block: seen.tags,
      seen: seen.envelope?.token ?? 0,
      work: {
        detach: (election) => {
          if (this.#left) source.giveUp(key, election.id).catch(() => undefined)
          else this.answer = toElected(source, election)
        },
      },
      passed: () => undefined,
    })
  }

  leave(): void {
    this.#left = true
  }
}

/** Detached loads of one cache, for callers that know only their keys and tokens. */
export class LoadsByToken<Value> {
  readonly #source: CacheSource<Value>

  constructor(source: CacheSource<Value>) {
    this.#source = source
  }

  /**
   * Stores the loaded value. `stored` is false when a greater version is known. Throws LeaseLostError when the key
   * was invalidated or set meanwhile, or another load began. Throws InvalidArgumentError.
   */
  async complete(key: string, load: string, value: Value, options: EndLoadOptions = {}): Promise<WasSet> {
    const source = this.#source
    checkName('key', key)
    checkOptions('options', options, ['ttl', 'staleWhileRevalidate', 'version'])
    const { token, tags, beganAtMs } = toHandle(load)
    const { ttlMs, staleWhileRevalidateMs } = toSpan(options, spanOf(value, source.terms, source.terms))
    const version = options.version === undefined ? 0 : checkVersion(options.version)
    const unit = source.unitOf(key)
    const encoded = source.encode(value)
    source.expectToRead(key, encoded.payload)
    const storing = unit.run(store, {
      codec: source.codec.name,
      token,
      version,
      ...encoded,
      loadMs: tookMs(source, beganAtMs),
      ttlMs: spread(ttlMs, source.terms.jitter),
      staleWhileRevalidateMs,
      ...(await learnNotifyChannel(unit)),
      tags,
    })
    // Also when it is unknown whether the value was stored.
    const answer = await storing.finally(() => source.shared.forget(key))
    if (answer.status === 'superseded') return { stored: false, version: answer.version }
    if (answer.status !== 'stored') throw new LeaseLostError(source.resourceOf(key), token)
    return { stored: true, freshUntilMs: answer.freshUntilMs, staleUntilMs: answer.staleUntilMs }
  }

  /**
   * Makes the lease of the load last `lease` from now; resolves to the new end. Throws LeaseLostError when it has
   * ended, or InvalidArgumentError.
   */
  async extend(key: string, load: string, lease: Duration): Promise<Extended> {
    const source = this.#source
    const of = {
      kind: loadLeasesOf(source.runtime),
      unit: source.unitOf(checkName('key', key)),
      resource: source.resourceOf(key),
    }
    return extendByToken(of, toHandle(load).token, lease)
  }

  /**
   * Ends the load without a value. Waiting callers fail with the reason; without a reason the next waiter loads.
   * Throws LeaseLostError when the load was revoked or another load began, or InvalidArgumentError.
   */
  async fail(key: string, load: string, reason: string = ''): Promise<void> {
    const { id, token } = toHandle(load)
    const failed = await this.#source.giveUp(checkName('key', key), id, reason)
    if (!failed) throw new LeaseLostError(this.#source.resourceOf(key), token)
  }
}

/** Null when no value may be served, or the value cannot be decoded. */
function foundIn<Value>(source: CacheSource<Value>, key: string, seen: Seen): DetachedLoad<Value> | null {
  if (seen.envelope === null) return null
  const found = toFound(source, key, seen.envelope, seen.worth, source.runtime.clock.latestMs())
  return found && { status: 'found', ...found }
}

function toElected<Value>(
  { terms }: CacheSource<Value>,
  { id, grant, tags }: LoadElection,
): DetachedLoad<Value> {
  const { token, expiresAtMs } = grant
  const parts = [token, id, tags.toString('base64'), expiresAtMs - terms.leaseMs]
  const load = Buffer.from(JSON.stringify(parts)).toString('base64url')
  return { status: 'elected', load, token, leaseMs: terms.leaseMs, expiresAtMs }
}

/** Throws InvalidArgumentError. */
function toHandle(load: string): Handle {
  try {
    const [token, id, tags, beganAtMs] = JSON.parse(Buffer.from(load, 'base64url').toString()) as unknown[]
    checkInteger('token', token, 1, Number.MAX_SAFE_INTEGER)
    checkInteger('beganAtMs', beganAtMs, 0, Number.MAX_SAFE_INTEGER)
    if (typeof id !== 'string' || typeof tags !== 'string') throw new TypeError('not a load')
    return { token: Number(token), id, tags: Buffer.from(tags, 'base64'), beganAtMs: Number(beganAtMs) }
  } catch {
    throw new InvalidArgumentError('load', 'must be a `load` text from `loadDetached`')
  }
}

const LONGEST_LOAD_MS = toMs('maxLoad', '1h')

function tookMs<Value>({ runtime }: CacheSource<Value>, beganAtMs: number): number {
  const { clock } = runtime
  const ms = clock.known ? Math.round(clock.latestMs() - beganAtMs) : 0
  return Math.min(Math.max(ms, 0), LONGEST_LOAD_MS)
}
