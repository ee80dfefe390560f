// Kept responses, whatever the framework: before the handler `lookUp` decides, behind it the response is kept.
//   another method, Authorization, a part, If-Match ──► pass
//   kept ──► answered
//   nothing is kept, or soon too old ──► begun, by one request in all processes ──handler──► kept for everybody
//                                                      └──► must not be shared: for a while all requests pass
//   the one that began failed, or Redis decides nothing ──► pass

import { type Cache, type Freshness, type LoadContext, type SetOptions } from '../../cache/cache.ts'
import { checkFlag, checkInteger, checkOptions } from '../../runtime/values/arguments.ts'
import { type Duration, toMs } from '../../runtime/values/duration.ts'
import { LoadFailedError, MaxRunError, WaitTimeoutError } from '../../runtime/errors/errors.ts'
import { fitName } from '../../runtime/values/fit-name.ts'
import { isError } from '../../runtime/errors/is-error.ts'
import { isOutage } from '../../runtime/errors/outage.ts'
import type { Answer, Headers } from '../responses/answer.ts'
import { hasBegun, noteBegun } from './begun-for.ts'
import { judgeResponse, type KeepableResponse } from './cache-control.ts'
import { Deferred } from '../responses/deferred.ts'
import { cacheStatus, type KeptResponse, toAnswer, toKept, toPass } from '../responses/kept-response.ts'
import { isCutShort, type HandlerResponse } from '../responses/response-recorder.ts'
import { toldText, toldTexts } from './told.ts'

export interface ResponseCacheOptions<Request> extends Freshness {
  /**
   * What is asked for; default: host, as the framework tells it, and path with query. Requests with the same key get the same response. One for
   * which it returns no string, or an empty one, fails with InvalidArgumentError.
   */
  key?: (request: Request) => string
  /** Request headers that make a difference. A response whose Vary names another one is not kept. */
  vary?: readonly string[]
  /** The response ends when one of these is invalidated. */
  tags?: (request: Request) => readonly string[]
  /** True: requests with Authorization share responses, too. Then the key must tell callers apart, where they differ. */
  withAuthorization?: boolean
  /** True: a response that sets cookies is kept without them. Default: it is not kept. */
  stripCookies?: boolean
  /** Bodies up to this size are kept; default 1 MiB. */
  maxBytes?: number
  /** Headers of the response to keep beside the usual ones. */
  keepHeaders?: readonly string[]
}

/** A request, as a framework's adapter tells it. */
export interface AskedResource {
  /** The same object for all middleware of it, or a copy that has been handed on. */
  readonly request: object
  readonly method: string
  /** Host and path with query. */
  readonly place: string
  header(name: string): string | null
}

export type ResponseStore = Cache<KeptResponse>

/** The clocks of two processes may differ, and what one makes another serves. A cache of another version may have none. */
type ServersTime = Partial<Pick<ResponseStore, 'time'>>

const timeOf = ({ time }: ServersTime): number => time?.nowMs ?? Date.now()

export type Admitted =
  | { readonly status: 'pass'; readonly headers: Headers }
  | { readonly status: 'answered'; readonly answer: Answer }
  | { readonly status: 'begun'; readonly headers: Headers; readonly begun: BegunResponse }

const OPTIONS = [
  'ttl',
  'staleWhileRevalidate',
  'key',
  'vary',
  'tags',
  'withAuthorization',
  'stripCookies',
  'maxBytes',
  'keepHeaders',
]
const DEFAULT_MAX_BYTES = 1024 * 1024
// In base64, and with its headers, a response stays below what a cache takes.
const MOST_BYTES = 10_000_000
/** So long nobody tries to keep what must not be shared. */
const PASS_FOR: Duration = '10s'
/** What asks for an answer that is nothing to others: a part, or a refusal (RFC 9110, 13.1). */
const FOR_ONE: readonly string[] = ['range', 'if-match', 'if-unmodified-since']
/** What a handler would answer with less than the whole response; it is not told of them. */
export const CONDITIONS: readonly string[] = ['if-none-match', 'if-modified-since']

export class ResponseCachePolicy<Request> {
  readonly maxBytes: number
  readonly #cache: ResponseStore
  readonly #options: ResponseCacheOptions<Request>

  /** Throws InvalidArgumentError. */
  constructor(cache: ResponseStore, options: ResponseCacheOptions<Request>) {
    checkOptions('options', options, OPTIONS)
    const { ttl, staleWhileRevalidate, maxBytes } = options
    if (ttl !== undefined) toMs('ttl', ttl, { max: '25d' })
    if (staleWhileRevalidate !== undefined)
      toMs('staleWhileRevalidate', staleWhileRevalidate, { min: '0s', max: '25d' })
    this.maxBytes = checkInteger('maxBytes', maxBytes ?? DEFAULT_MAX_BYTES, 1, MOST_BYTES)
    checkFlag('withAuthorization', options.withAuthorization ?? false)
    checkFlag('stripCookies', options.stripCookies ?? false)
    this.#cache = cache
    this.#options = options
  }

  /** Decides before the handler. */
  async lookUp(asked: AskedResource, request: Request): Promise<Admitted> {
    if (asked.method !== 'GET' && asked.method !== 'HEAD') return { status: 'pass', headers: [] }
    const { withAuthorization, tags } = this.#options
    const isForHandler = asked.header('authorization') !== null && withAuthorization !== true
    if (isForHandler || FOR_ONE.some((name) => asked.header(name) !== null)) return bypass()
    try {
      const key = this.#keyOf(asked, request)
      if (asked.method === 'HEAD')
        return toAdmitted((await this.#cache.getEntry(key))?.value, asked, this.#cache)
      const told = tags === undefined ? [] : toldTexts('tags', tags(request))
      return await this.#getOrBegin(asked, key, told)
    } catch (error) {
      if (isForOthers(error)) return bypass()
      throw error
    }
  }

  async #getOrBegin(asked: AskedResource, key: string, tags: readonly string[]): Promise<Admitted> {
    const { ttl, staleWhileRevalidate } = this.#options
    const what = `cache ${this.#cache.name} ${key}`
    if (hasBegun(asked.request, what)) return { status: 'pass', headers: [] }
    const begun = new BegunResponse(this.#options, this.#cache)
    const span: Freshness = {
      ...(ttl === undefined ? {} : { ttl }),
      ...(staleWhileRevalidate === undefined ? {} : { staleWhileRevalidate }),
    }
    const decided = new Deferred<void>()
    const got = this.#cache.serve(key, begun.loader, () => decided.resolve(), { ...span, tags })
    const kept = await Promise.race([begun.elected, got.then((value) => decided.promise.then(() => value))])
    if (kept !== null) return toAdmitted(kept, asked, this.#cache)
    // Whoever began is answered by the handler.
    noteBegun(asked.request, what, got)
    return { status: 'begun', headers: [cacheStatus('fwd=miss')], begun }
  }

  #keyOf(asked: AskedResource, request: Request): string {
    const { key, vary = [] } = this.#options
    const place = key === undefined ? asked.place : toldText('key', key(request))
    const told = vary.map((name) => `${name.toLowerCase()}: ${asked.header(name.toLowerCase()) ?? ''}`)
    return fitName([place, ...told].join('\n'))
  }
}

/** A request whose handler is under way, on behalf of all that ask for the same. */
export class BegunResponse {
  readonly loader: (context: LoadContext) => Promise<KeptResponse>
  readonly #options: ResponseCacheOptions<never>
  readonly #clock: ServersTime
  readonly #elected = new Deferred<null>()
  readonly #made = new Deferred<KeptResponse>()
  #context: LoadContext | null = null

  constructor(options: ResponseCacheOptions<never>, clock: ServersTime) {
    this.#options = options
    this.#clock = clock
    this.#made.promise.catch(() => undefined)
    this.loader = (context) => {
      // Asked for again: what was made may be older than an invalidation.
      if (this.#context !== null) return Promise.reject(new NotShared())
      this.#context = context
      this.#elected.resolve(null)
      return this.#made.promise
    }
  }

  /** Resolves to null once this request is the one. */
  get elected(): Promise<null> {
    return this.#elected.promise
  }

  /** Keeps the response if it may be, by what it says, and by the head that was `sent` where that is known. Never rejects. */
  async keep(given: HandlerResponse, sent?: Omit<HandlerResponse, 'body'>): Promise<void> {
    // They may be there to be read once.
    const response = { ...given, headers: [...given.headers] }
    const { ttl } = this.#options
    if (isCutShort(response)) return this.fail()
    const verdict = this.#judge(response, { ...response, ...sent })
    if (verdict.status === 'failed') return this.fail()
    if (verdict.status === 'pass') {
      this.#context?.keep({ ttl: PASS_FOR, staleWhileRevalidate: '0s' })
      return this.#made.resolve(toPass())
    }
    this.#context?.keep(toFreshness(verdict))
    const { ageMs } = verdict
    // By the options, it is fresh from now on.
    const otherwise = ttl === undefined ? null : ageMs + toMs('ttl', ttl)
    const freshMs = verdict.freshMs ?? otherwise
    const nowMs = timeOf(this.#clock)
    this.#made.resolve(toKept(response, { nowMs, ageMs, freshMs }, this.#options.keepHeaders ?? []))
  }

  #judge(response: HandlerResponse, sent: HandlerResponse): KeepableResponse {
    const { vary = [], stripCookies = false } = this.#options
    const rules = { vary: vary.map((name) => name.toLowerCase()), stripCookies }
    const verdict = judgeResponse(response, rules)
    if (verdict.status !== 'keep') return verdict
    // What encodes a response as it is sent does so each time.
    const late = judgeResponse(sent, { ...rules, vary: [...rules.vary, 'accept-encoding'] })
    return late.status === 'keep' ? verdict : late
  }

  /** There is no response: those who wait for it are for their handlers. */
  fail(): void {
    this.#made.reject(new NotShared())
  }
}

/** What one request made is nothing to others. */
class NotShared extends Error {
  override readonly name = 'NotShared'
}

function isForOthers(error: unknown): boolean {
  // A proxy that was thrown may throw in turn.
  if (isError(error) && error instanceof NotShared) return true
  if (error instanceof LoadFailedError) return true
  return error instanceof WaitTimeoutError || error instanceof MaxRunError || isOutage(error)
}

function toFreshness({
  ageMs,
  freshMs,
  staleMs,
}: Extract<KeepableResponse, { status: 'keep' }>): Pick<SetOptions, keyof Freshness> {
  return {
    ...(freshMs === null ? {} : { ttl: durationOf(freshMs - ageMs) }),
    ...(staleMs === null ? {} : { staleWhileRevalidate: durationOf(staleMs) }),
  }
}

const LONGEST_MS = toMs('ttl', '25d')

function durationOf(ms: number): Duration {
  return `${Math.min(ms, LONGEST_MS)}ms`
}

function toAdmitted(
  kept: KeptResponse | undefined,
  { method, header }: AskedResource,
  clock: ServersTime,
): Admitted {
  const asked = { nowMs: timeOf(clock), method, etags: header('if-none-match') }
  const answer = kept === undefined ? null : toAnswer(kept, asked)
  return answer === null ? bypass() : { status: 'answered', answer }
}

function bypass(): Admitted {
  return { status: 'pass', headers: [cacheStatus('fwd=bypass')] }
}
