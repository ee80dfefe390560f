// Idempotent requests, for any framework: `admit` decides before the handler runs. Afterwards the recording stores the
// response or frees the key.
//
//   no key, another method ──► pass
//   first with its key ──► begun ──handler──► below 500: stored, and replayed from now on
//                                   └──────► 500 and above, cut short, or it threw: the key is free again
//   again ──► the stored response, or 409 while the first is running, or 422 for a different request

import { fingerprintOf, type Once } from '../../once/once.ts'
import { checkFlag, checkFunction, checkInteger, checkOptions } from '../../runtime/values/arguments.ts'
import { ResultNotKeptError } from '../../runtime/errors/errors.ts'
import { isOutage } from '../../runtime/errors/outage.ts'
import { type Answer, type Headers, problem, unavailable } from '../responses/answer.ts'
import { hasBegun, noteBegun, type Within, type RequestIdentity } from './begun-for.ts'
import { parseIdempotencyKey } from './idempotency-key.ts'
import { KEPT_HEADERS, ResponseRecorder, type StoredResponse } from '../responses/response-recorder.ts'
import { returnedText } from './returned.ts'

export interface IdempotencyOptions<Request> {
  /** The methods to which this applies; default POST and PATCH. */
  methods?: readonly string[]
  /** True rejects requests without the header; default false lets them pass. */
  required?: boolean
  /**
   * The owner of the key: two subjects may choose the same key. A request for which it does not return a string of at
   * least one character fails with InvalidArgumentError. Default: all callers share their keys, which is right only
   * when all of them are the same client.
   */
  subject?: (request: Request) => string
  /** Returns what identifies the request, to detect reuse of a key; default: method, path with query, and body. */
  fingerprint?: (request: Request) => string | Promise<string>
  /** The largest body of a request (for the fingerprint) and of a response (to be stored), in bytes; default 1 MiB. */
  maxBytes?: number
  /** Response headers to store in addition to the usual ones. */
  keepHeaders?: readonly string[]
  /** Called when a response could not be stored; the client still receives it. */
  onNotKept?: (error: unknown, key: string) => void
}

/** A request, as a framework adapter passes it. */
export interface Incoming extends RequestIdentity {
  readonly method: string
  readonly header: string | null
  /** The subject of the caller; null: all callers share their keys. */
  subject(): string | null
  /** Null when the body is larger than `maxBytes`. */
  fingerprint(): Promise<string | null>
}

export type Admission =
  | { readonly status: 'pass' }
  | { readonly status: 'answered'; readonly answer: Answer }
  /** Call the handler by `within`. */
  | { readonly status: 'begun'; readonly recording: ResponseRecorder; readonly within: Within }

export type Store = Pick<Once<StoredResponse>, 'begin' | 'name'>

const OPTIONS = [
  'methods',
  'required',
  'subject',
  'fingerprint',
  'maxBytes',
  'keepHeaders',
  'onNotKept',
] as const
const DEFAULT_METHODS: readonly string[] = ['POST', 'PATCH']
const REPLAYED: Headers = [['idempotency-replayed', 'true']]
const DEFAULT_MAX_BYTES = 1024 * 1024
// A response of this size, with its headers and in base64, stays below the size limit of a result.
const MOST_BYTES = 3_000_000

/** Null: callers share their keys. Throws InvalidArgumentError when `subject` returns no string, or an empty one. */
export function subjectOf<Request>(
  { subject }: IdempotencyOptions<Request>,
  request: Request,
): string | null {
  return subject === undefined ? null : returnedText('subject', subject(request))
}

export class IdempotencyPolicy<Request> {
  readonly maxBytes: number
  readonly #once: Store
  readonly #options: IdempotencyOptions<Request>

  /** Throws InvalidArgumentError. */
  constructor(once: Store, options: IdempotencyOptions<Request>) {
    checkOptions('options', options, OPTIONS)
    this.maxBytes = checkInteger('maxBytes', options.maxBytes ?? DEFAULT_MAX_BYTES, 1, MOST_BYTES)
    checkFlag('required', options.required ?? false)
    if (options.onNotKept !== undefined) checkFunction('onNotKept', options.onNotKept)
    this.#once = once
    this.#options = options
  }

  /** Decides before the handler. */
  async admit(incoming: Incoming): Promise<Admission> {
    const { methods = DEFAULT_METHODS, required = false } = this.#options
    if (!methods.includes(incoming.method)) return { status: 'pass' }
    if (incoming.header === null) {
      return required ? answered(missing()) : { status: 'pass' }
    }
    const key = parseIdempotencyKey(incoming.header)
    if (key === null) return answered(malformed())
    const subject = incoming.subject()
    const unit = subject === null ? key : fingerprintOf(subject, key)
    if (hasBegun(incoming, this.#what(unit))) return { status: 'pass' }
    const fingerprint = await incoming.fingerprint()
    if (fingerprint === null) return answered(tooLarge())
    try {
      return await this.#begin(incoming, unit, fingerprint)
    } catch (error) {
      if (isOutage(error)) return answered(unavailable())
      if (error instanceof ResultNotKeptError) return answered(notKept())
      throw error
    }
  }

  async #begin(incoming: Incoming, unit: string, fingerprint: string): Promise<Admission> {
    const begun = await this.#once.begin(unit, { fingerprint })
    switch (begun.status) {
      case 'started': {
        const recording = new ResponseRecorder(begun.attempt, incoming.method, this.#options)
        const within = noteBegun(incoming, this.#what(unit), recording.settled)
        return { status: 'begun', recording, within }
      }
      case 'replayed':
        return answered(replay(begun.result))
      case 'running':
        return answered(running())
      default:
        return answered(reused())
    }
  }

  #what(unit: string): string {
    return `once ${this.#once.name} ${unit}`
  }
}

function answered(answer: Answer): Admission {
  return { status: 'answered', answer }
}

function replay({ status, headers, body }: StoredResponse): Answer {
  if (body === null) return notKept()
  const bytes = Buffer.from(body, 'base64')
  return { status, headers: [...headers, ...REPLAYED], body: bytes, without: KEPT_HEADERS }
}

function notKept(): Answer {
  const detail = 'The request was carried out; its response could not be kept.'
  return problem('response-not-kept', detail, REPLAYED)
}

function running(): Answer {
  const detail = 'The first request with this Idempotency-Key has not been answered yet.'
  return problem('running', detail, [['retry-after', '1']], { retryAfterMs: 1000 })
}

function reused(): Answer {
  return problem('conflict', 'This Idempotency-Key came with another request before.')
}

function missing(): Answer {
  return problem('idempotency-key-missing', 'This request needs the header Idempotency-Key.')
}

function malformed(): Answer {
  const detail = 'Idempotency-Key must be one string of 1 to 255 characters, such as "8e03978e".'
  return problem('idempotency-key-malformed', detail)
}

function tooLarge(): Answer {
  return problem('too-large', 'The body is too large for a request with an Idempotency-Key.')
}
