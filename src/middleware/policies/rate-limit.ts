// Rate limits, for any framework: `take` decides before the handler runs. A concurrency permit is released when the
// response is done.

import type { Decision } from '../../rate-limit/decision.ts'
import { rateLimitHeaders } from '../../rate-limit/headers.ts'
import type { RateLimit } from '../../rate-limit/rate-limit.ts'
import { checkOptions } from '../../runtime/values/arguments.ts'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { fitName } from '../../runtime/values/fit-name.ts'
import { nowOrInTheEnd } from '../../runtime/time/in-the-end.ts'
import { isLoss } from '../../runtime/errors/outage.ts'
import { type Answer, type Headers, problem, unavailable } from '../responses/answer.ts'
import { returnedText } from './returned.ts'

export interface RateLimitMiddlewareOptions<Request> {
  /**
   * Identifies whose requests are limited together: an address, a user, an API key. Must return at least one character.
   */
  subject: (request: Request) => string
  /** How many units a request takes; default 1. */
  cost?: (request: Request) => number
}

export type Limiter = Pick<RateLimit, 'take' | 'release'>

export type Passage =
  | { readonly allowed: false; readonly answer: Answer }
  /** Call `done` when the response is done. It never rejects; only its first call has an effect. */
  | { readonly allowed: true; readonly headers: Headers; done(): void }

export class RateLimitPolicy<Request> {
  readonly #limiter: Limiter
  readonly #options: RateLimitMiddlewareOptions<Request>

  /** Throws InvalidArgumentError. */
  constructor(limiter: Limiter, options: RateLimitMiddlewareOptions<Request>) {
    checkOptions('options', options, ['subject', 'cost'])
    if (typeof options.subject !== 'function') throw new InvalidArgumentError('subject', 'must be a function')
    this.#limiter = limiter
    this.#options = options
  }

  /**
   * Takes units before the handler runs. Throws what `take` throws: during an outage, when `onOutage` of the limiter is
   * `throw`.
   */
  async pass(request: Request): Promise<Passage> {
    const { subject, cost } = this.#options
    // A session token, or a value that a proxy passes on, may be of any length.
    const who = fitName(returnedText('subject', subject(request)))
    const decision = await this.#limiter.take(who, { cost: cost?.(request) ?? 1 })
    const headers = headersOf(decision)
    if (!decision.allowed) {
      return { allowed: false, answer: decision.outage ? unavailable() : limited(decision, headers) }
    }
    return { allowed: true, headers, done: releaser(this.#limiter, who, decision) }
  }
}

function headersOf(decision: Decision): Headers {
  return Object.entries(rateLimitHeaders(decision)).map(([name, value]) => [name.toLowerCase(), value])
}

function limited(decision: Extract<Decision, { retryAfterMs: number }>, headers: Headers): Answer {
  const { deniedBy, retryAfterMs } = decision
  const detail = `The limit '${deniedBy}' is reached. Please wait ${retryAfterMs} ms.`
  return problem('rate-limited', detail, headers, { deniedBy, retryAfterMs })
}

function releaser(limiter: Limiter, subject: string, decision: Decision): () => void {
  if (decision.outage || !decision.allowed) return () => undefined
  const { token, limits } = decision
  let held = Object.values(limits).some(({ algorithm }) => algorithm === 'concurrency')
  return () => {
    if (!held) return
    held = false
    // Only this process has the token: retry until the server has answered or the lease is over.
    nowOrInTheEnd(() => limiter.release(subject, token), isLoss).catch(() => undefined)
  }
}
