// Stored responses, for any framework: `lookUp` decides before the handler runs; afterwards the response is stored.
//   another method, Authorization, a range, If-Match ──► pass
//   stored ──► answered
//   nothing is stored, or it expires soon ──► begun, by one request among all processes ──handler──► stored for all
//                                                      └──► must not be shared: for a while all requests pass
//   the request that began failed, or Redis is unavailable ──► pass

import { type Cache, type Freshness, type LoadContext, type SetOptions } from '../../cache/cache.ts'
import { checkFlag, checkInteger, checkOptions } from '../../runtime/values/arguments.ts'
import { type Duration, toMs } from '../../runtime/values/duration.ts'
import { LoadFailedError, MaxRunError, WaitTimeoutError } from '../../runtime/errors/errors.ts'
import { fitName } from '../../runtime/values/fit-name.ts'
import { isError } from '../../runtime/errors/is-error.ts'
import { isOutage } from '../../runtime/errors/outage.ts'
import type { Answer, Headers } from '../responses/answer.ts'
import { hasBegun, noteBegun, type Within, type RequestIdentity } from './begun-for.ts'
import { judgeResponse, type KeepableResponse } from './cache-control.ts'
import { Deferred } from '../responses/deferred.ts'
import { cacheStatus, type KeptResponse, toAnswer, toKept, toPass } from '../responses/kept-response.ts'
import { isCutShort, type HandlerResponse } from '../responses/response-recorder.ts'
import { returnedText, returnedTexts } from './returned.ts'

export interface ResponseCacheOptions<Request> extends Freshness {
  /**
   * Identifies the resource; default: scheme and host, as the framework reports them, and the path with query. Requests with the
   * same key get the same response. A request for which it does not return a string of at least one character fails
   * with InvalidArgumentError.
   */
  key?: (request: Request) => string
  /** Request headers that are part of the key. A response whose Vary names another header is not stored. */
  vary?: readonly string[]
  /** Tags of the stored response: it expires when one of them is invalidated. */
  tags?: (request: Request) => readonly string[]
  /**
   * True: requests with Authorization share responses too. Then `key` must differ between callers whose responses
   * differ.
   */
  withAuthorization?: boolean
  /** True: a response that sets cookies is stored without them. Default: it is not stored. */
  stripCookies?: boolean
  /** The largest body to store, in bytes; default 1 MiB. */
  maxBytes?: number
  /** Response headers to store in addition to the usual ones. */
  keepHeaders?: readonly string[]
}

/** A request, as a framework adapter passes it. */
export interface AskedResource extends RequestIdentity {
  readonly method: string
  /** Scheme, host and path with query: `https://shop.example/page?id=1`. */
  readonly place: string
  /** Whether a handler may read content: then its response suits no other request. */
  readonly hasContent: boolean
  header(name: string): string | null
}

export type ResponseStore = Cache<KeptResponse>

/** The server's time: the processes that make and serve a response have different clocks. Older caches lack it. */
type ServersTime = Partial<Pick<ResponseStore, 'time'>>

const timeOf = ({ time }: ServersTime): number => time?.nowMs ?? Date.now()

export type Admitted =
  | { readonly status: 'pass'; readonly headers: Headers }
  | { readonly status: 'answered'; readonly answer: Answer }
  /** Call the handler by `within`. */
  | {
      readonly status: 'begun'
      readonly headers: Headers
      readonly begun: BegunResponse
      readonly within: Within
    }

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
// A response of this size, with its headers and in base64, stays below the size limit of a cache value.
const MOST_BYTES = 10_000_000
/** For this long no request tries to store a response that must not be shared. */
const PASS_FOR: Duration = '10s'
/** Headers whose answer suits no other request: a part, or a failed precondition (RFC 9110, 13.1). */
const FOR_ONE: readonly string[] = ['range', 'if-match', 'if-unmodified-since']
/** Headers that would let a handler answer with less than the whole response; they are hidden from it. */
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
    if (isForHandler || asked.hasContent || FOR_ONE.some((name) => asked.header(name) !== null))
      return bypass()
    try {
      const key = this.#keyOf(asked, request)
      if (asked.method === 'HEAD')
        return toAdmitted((await this.#cache.getEntry(key))?.value, asked, this.#cache)
      const returned = tags === undefined ? [] : returnedTexts('tags', tags(request))
      return await this.#getOrBegin(asked, key, returned)
    } catch (error) {
      if (isForOthers(error)) return bypass()
      throw error
    }
  }

  async #getOrBegin(asked: AskedResource, key: string, tags: readonly string[]): Promise<Admitted> {
    const { ttl, staleWhileRevalidate } = this.#options
    const what = `cache ${this.#cache.name} ${key}`
    if (hasBegun(asked, what)) return { status: 'pass', headers: [] }
    const begun = new BegunResponse(this.#options, this.#cache)
    const span: Freshness = {
      ...(ttl === undefined ? {} : { ttl }),
      ...(staleWhileRevalidate === undefined ? {} : { staleWhileRevalidate }),
    }
    const decided = new Deferred<void>()
    const got = this.#cache.serve(key, begun.loader, () => decided.resolve(), { ...span, tags })
    const kept = await Promise.race([begun.elected, got.then((value) => decided.promise.then(() => value))])
    if (kept !== null) return toAdmitted(kept, asked, this.#cache)
    // The request that began is answered by its handler.
    const within = noteBegun(asked, what, got)
    return { status: 'begun', headers: [cacheStatus('fwd=miss')], begun, within }
  }

  #keyOf(asked: AskedResource, request: Request): string {
    const { key, vary = [] } = this.#options
    const place = key === undefined ? asked.place : returnedText('key', key(request))
    const varying = vary.map((name) => `${name.toLowerCase()}: ${asked.header(name.toLowerCase()) ?? ''}`)
    return fitName([place, ...varying].join('\n'))
  }
}

/** A request whose handler is running on behalf of all requests for the same resource. */
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
      // A second load: the response made for the first may be older than an invalidation.
      if (this.#context !== null) return Promise.reject(new NotShared())
      this.#context = context
      this.#elected.resolve(null)
      return this.#made.promise
    }
  }

  /** Resolves to null once this request is elected to make the response. */
  get elected(): Promise<null> {
    return this.#elected.promise
  }

  /**
   * Stores the response if it allows that, and if the head that was `sent`, where known, allows it too. Never rejects.
   */
  async keep(given: HandlerResponse, sent?: Omit<HandlerResponse, 'body'>): Promise<void> {
    // The headers may be readable only once.
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
    // By the option `ttl`, the response is fresh from now on.
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
    // Middleware that encodes responses as they are sent does so each time.
    const late = judgeResponse(sent, { ...rules, vary: [...rules.vary, 'accept-encoding'] })
    return late.status === 'keep' ? verdict : late
  }

  /** No response was made: waiting requests go to their own handlers. */
  fail(): void {
    this.#made.reject(new NotShared())
  }
}

/** The response of one request must not be shared with others. */
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
