import type { Attempt } from '../../once/once.ts'
import { notifying } from '../../runtime/errors/notify.ts'
import { BODILESS, type Headers } from './answer.ts'
import { Deferred } from './deferred.ts'

/** A response as it is stored, in the codec of the `once`. */
export interface StoredResponse {
  readonly status: number
  readonly headers: Headers
  /** In base64; null when it was too large to store. */
  readonly body: string | null
}

export interface RecordingOptions {
  keepHeaders?: readonly string[]
  onNotKept?: (error: unknown, key: string) => void
}

/** The response of a handler. The body is null when it is too large, or an endless stream. */
export interface HandlerResponse {
  readonly status: number
  readonly headers: Iterable<readonly [name: string, value: string]>
  readonly body: Uint8Array | null
}

/** Whether the body has fewer bytes than declared: its source failed, and a client would wait for the rest. */
export function isCutShort({ status, headers, body }: HandlerResponse): boolean {
  if (body === null || BODILESS.has(status)) return false
  const declared = [...headers].filter(([name]) => name.toLowerCase() === 'content-length')
  return declared.some(([, length]) => Number(length) > body.byteLength)
}

// Headers that describe the content or the created resource. Cookies, dates and headers added by servers are not
// replayed.
export const KEPT_HEADERS: ReadonlySet<string> = new Set([
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-location',
  'content-type',
  'etag',
  'expires',
  'last-modified',
  'link',
  'location',
  'vary',
])

/** Records the response of a running handler. */
export class ResponseRecorder {
  readonly #attempt: Attempt<StoredResponse>
  readonly #method: string
  readonly #options: RecordingOptions
  readonly #onNotKept: (error: unknown, key: string) => void
  readonly #settled = new Deferred<void>()

  constructor(attempt: Attempt<StoredResponse>, method: string, options: RecordingOptions) {
    this.#attempt = attempt
    this.#method = method
    this.#options = options
    this.#onNotKept = notifying('onNotKept', options.onNotKept)
  }

  /** Resolves once the response is stored or the key is free, or that attempt has failed. */
  get settled(): Promise<void> {
    return this.#settled.promise
  }

  /** Stores the response, unless it has an error status, is cut short, or is only informational. Never rejects. */
  async keep(response: HandlerResponse): Promise<void> {
    const { status, body } = response
    if (status >= 500 || status < 200) return this.free()
    // The headers may be readable only once.
    const headers = [...response.headers]
    // The response to HEAD declares the length of a body that it does not send.
    if (this.#method !== 'HEAD' && isCutShort({ status, headers, body })) return this.free()
    const stored: StoredResponse = {
      status,
      headers: headers.filter(([name]) => this.#keeps(name.toLowerCase())),
      body: body === null ? null : Buffer.from(body).toString('base64'),
    }
    await this.#settle(this.#attempt.completeAnyway(stored))
  }

  /** The handler threw: frees the key for a retry. Never rejects. */
  async free(): Promise<void> {
    await this.#settle(this.#attempt.releaseAnyway())
  }

  async #settle(call: Promise<unknown>): Promise<void> {
    try {
      await call
    } catch (error) {
      this.#onNotKept(error, this.#attempt.key)
    }
    this.#settled.resolve()
  }

  #keeps(name: string): boolean {
    const { keepHeaders = [] } = this.#options
    return KEPT_HEADERS.has(name) || keepHeaders.some((kept) => kept.toLowerCase() === name)
  }
}
