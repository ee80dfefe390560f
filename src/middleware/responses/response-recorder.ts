import type { Attempt } from '../../once/once.ts'
import { notifying } from '../../runtime/errors/notify.ts'
import { BODILESS, type Headers } from './answer.ts'
import { Deferred } from './deferred.ts'

/** A response as it is kept, in whatever codec the `once` has. */
export interface StoredResponse {
  readonly status: number
  readonly headers: Headers
  /** In base64; null when it was too large to be kept. */
  readonly body: string | null
}

export interface RecordingOptions {
  keepHeaders?: readonly string[]
  onNotKept?: (error: unknown, key: string) => void
}

/** What a handler answered. A body of null is too large, or a stream without an end. */
export interface HandlerResponse {
  readonly status: number
  readonly headers: Iterable<readonly [name: string, value: string]>
  readonly body: Uint8Array | null
}

/** Whether it ended before so many bytes as it declares: what it was made from has failed, and a client would wait for the rest. */
export function isCutShort({ status, headers, body }: HandlerResponse): boolean {
  if (body === null || BODILESS.has(status)) return false
  const declared = [...headers].filter(([name]) => name.toLowerCase() === 'content-length')
  return declared.some(([, length]) => Number(length) > body.byteLength)
}

// What describes the content or what has been made. Cookies, dates and what servers add are not repeated.
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

/** A request whose handler is under way. */
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

  /** Resolves once the response is kept, or the key is free, as far as that can be. */
  get settled(): Promise<void> {
    return this.#settled.promise
  }

  /** Keeps the response, unless it says that the server failed, was cut short, or is none. Never rejects. */
  async keep(response: HandlerResponse): Promise<void> {
    const { status, body } = response
    if (status >= 500 || status < 200) return this.free()
    // They may be there to be read once.
    const headers = [...response.headers]
    // What is asked for by HEAD declares what it does not send.
    if (this.#method !== 'HEAD' && isCutShort({ status, headers, body })) return this.free()
    const stored: StoredResponse = {
      status,
      headers: headers.filter(([name]) => this.#keeps(name.toLowerCase())),
      body: body === null ? null : Buffer.from(body).toString('base64'),
    }
    await this.#settle(this.#attempt.completeAnyway(stored))
  }

  /** The handler threw: a retry may run. Never rejects. */
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
