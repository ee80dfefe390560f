// One POST to a subscriber: to a public address or an allowed one, once, without following redirects.

import type { LookupAddress } from 'node:dns'
import { type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { callbackify } from 'node:util'
import { type AddressRange, mayReach } from '../addresses/guard.ts'
import type { WebhookLetter } from '../subscriptions/letter.ts'
import { type Names, names as namesOfProcess } from '../addresses/names.ts'

/** `late`: no answer within `timeoutMs`; `forbidden`: its address is not one that a webhook may reach. */
export type PostOutcome = 'delivered' | 'failed' | 'late' | 'forbidden'

export interface WebhookTerms {
  readonly timeoutMs: number
  readonly allowed: readonly AddressRange[]
  /** Resolves its name. */
  readonly names?: Names
  /** Ends it, without a result for the subscriber. */
  readonly signal?: AbortSignal
  /** Receives why it was not delivered. */
  readonly onFailure?: (why: string) => void
  /**
   * Called when the letter is not in memory any more, perhaps more than once. A receiver may answer before it has read
   * the letter.
   */
  readonly onDropped?: () => void
}

const FORBIDDEN = 'its address is not one that a webhook may reach'

class ForbiddenAddressError extends Error {
  override readonly name = 'ForbiddenAddressError'
}

class LateError extends Error {
  override readonly name = 'LateError'
}

// Enough for a normal answer; more is not read.
const MAX_ANSWER_BYTES = 65_536
/** Of responses such as 102, which Node accepts in any number before the answer. */
const MOST_INTERIM = 20

/** Throws the signal's reason. */
export async function postLetter(
  url: URL,
  { headers, body }: WebhookLetter,
  terms: WebhookTerms,
): Promise<PostOutcome> {
  const { timeoutMs, allowed, names = namesOfProcess, signal } = terms
  const { onFailure = () => undefined, onDropped = () => undefined } = terms
  if (isIP(hostOf(url)) !== 0 && !mayReach(hostOf(url), allowed)) {
    onDropped()
    onFailure(FORBIDDEN)
    return 'forbidden'
  }
  const options: RequestOptions = {
    method: 'POST',
    headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
    lookup: guardedLookup(allowed, (host) => names.addressesOf(host, timeoutMs)),
    // A new connection: the address of one that is kept open was checked for another request.
    agent: false,
  }
  try {
    const status = await statusInTime(url, options, body, { timeoutMs, signal, onDropped })
    if (status >= 200 && status < 300) return 'delivered'
    onFailure(`it answered with ${status}`)
    return 'failed'
  } catch (error) {
    signal?.throwIfAborted()
    onFailure(wordsOf(error))
    if (error instanceof LateError) return 'late'
    return error instanceof ForbiddenAddressError ? 'forbidden' : 'failed'
  }
}

/** Without the address, which the operator of the subscriber may want to keep secret. */
function wordsOf(error: unknown): string {
  if (error instanceof LateError) return error.message
  if (error instanceof ForbiddenAddressError) return FORBIDDEN
  if (error instanceof Error && 'code' in error)
    return `it cannot be reached, or does not answer in HTTP (${String(error.code)})`
  return error instanceof Error ? error.message : String(error)
}

/** The host without the brackets around an IPv6 address. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

/** One signal for both ends; no listener stays on the longer-lived one. */
async function statusInTime(
  url: URL,
  options: RequestOptions,
  body: string,
  { timeoutMs, signal, onDropped }: { timeoutMs: number; signal: AbortSignal | undefined; onDropped(): void },
): Promise<number> {
  const ending = new AbortController()
  const end = (): void => ending.abort()
  if (signal?.aborted) end()
  signal?.addEventListener('abort', end, { once: true })
  // The rest of the letter is sent, and that of the answer read, until then.
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    end()
  }, timeoutMs).unref()
  const over = (): void => {
    clearTimeout(timer)
    onDropped()
  }
  try {
    return await statusOf(url, { ...options, signal: ending.signal }, body, over)
  } catch (error) {
    over()
    throw isLate ? new LateError('no answer in time', { cause: error }) : error
  } finally {
    signal?.removeEventListener('abort', end)
  }
}

function statusOf(url: URL, options: RequestOptions, body: string, over: () => void): Promise<number> {
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolveStatus, reject) => {
    const sent = send(url, options, (answer) => {
      drain(answer)
      resolveStatus(answer.statusCode ?? 0)
    })
    let interim = 0
    sent.on('information', () => {
      interim += 1
      if (interim > MOST_INTERIM) sent.destroy(new Error('it sends interim answers without an end'))
    })
    sent.on('error', reject)
    sent.on('close', () => {
      over()
      // For an answer that switches protocols (101) Node emits only this.
      reject(new Error('the connection ended without an answer'))
    })
    options.signal?.addEventListener('abort', () => reject(options.signal?.reason), { once: true })
    sent.end(body)
  })
}

/** A long or slow answer is still an answer. */
function drain(answer: IncomingMessage): void {
  let bytes = 0
  answer.on('error', () => undefined)
  answer.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES) answer.destroy()
  })
}

/** Rejects a name that leads to an address which must not be reached. */
function guardedLookup(
  allowed: readonly AddressRange[],
  addressesOf: (host: string) => Promise<LookupAddress[]>,
): LookupFunction {
  const find = callbackify(async (host: string) => {
    const addresses = await addressesOf(host)
    const [first] = addresses
    const refused = refusal(host, addresses, allowed)
    if (refused !== null || first === undefined) throw refused ?? new Error('no address')
    return { addresses, first }
  })
  return (hostname, { all }, done) =>
    find(hostname, (error, found) => {
      if (error) done(error, [])
      else if (all === true) done(null, found.addresses)
      else done(null, found.first.address, found.first.family)
    })
}

function refusal(
  hostname: string,
  addresses: readonly LookupAddress[],
  allowed: readonly AddressRange[],
): Error | null {
  const isForbidden = addresses.some(({ address }) => !mayReach(address, allowed))
  return isForbidden ? new ForbiddenAddressError(`${hostname} is not public`) : null
}
