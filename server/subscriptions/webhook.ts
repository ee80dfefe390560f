// One POST to a subscriber: to a public address or an allowed one, once, without following anywhere.

import { type LookupAddress, lookup as resolve } from 'node:dns'
import { type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { type AddressRange, mayReach } from './address-guard.ts'
import type { Letter } from './letter.ts'

/** `forbidden`: its address is not one that a webhook may reach. */
export type Outcome = 'delivered' | 'failed' | 'forbidden'

export interface WebhookTerms {
  readonly timeoutMs: number
  readonly allowed: readonly AddressRange[]
}

class ForbiddenAddressError extends Error {
  override readonly name = 'ForbiddenAddressError'
}

// Enough for a polite answer; more is not listened to.
const MAX_ANSWER_BYTES = 65_536

export async function postLetter(
  url: URL,
  { headers, body }: Letter,
  { timeoutMs, allowed }: WebhookTerms,
): Promise<Outcome> {
  if (isIP(hostOf(url)) !== 0 && !mayReach(hostOf(url), allowed)) return 'forbidden'
  const options: RequestOptions = {
    method: 'POST',
    headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
    lookup: guardedLookup(allowed),
    // A connection of its own: one that is kept open has been judged for another request.
    agent: false,
    signal: AbortSignal.timeout(timeoutMs),
  }
  try {
    const status = await statusOf(url, options, body)
    return status >= 200 && status < 300 ? 'delivered' : 'failed'
  } catch (error) {
    return error instanceof ForbiddenAddressError ? 'forbidden' : 'failed'
  }
}

/** The host without the brackets that stand around an IPv6 address. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

function statusOf(url: URL, options: RequestOptions, body: string): Promise<number> {
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolveStatus, reject) => {
    const sent = send(url, options, (answer) => {
      drain(answer)
      resolveStatus(answer.statusCode ?? 0)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** Whoever answers at length, or slowly, has answered all the same. */
function drain(answer: IncomingMessage): void {
  let bytes = 0
  answer.on('error', () => undefined)
  answer.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES) answer.destroy()
  })
}

/** Resolves as ever, and refuses a name that leads to an address which must not be reached. */
function guardedLookup(allowed: readonly AddressRange[]): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const refused = error ?? refusal(hostname, addresses, allowed)
      const [first] = addresses ?? []
      if (refused !== null || first === undefined) done(refused ?? new Error('no address'), [])
      else if (options.all === true) done(null, addresses)
      else done(null, first.address, first.family)
    })
  }
}

function refusal(
  hostname: string,
  addresses: readonly LookupAddress[],
  allowed: readonly AddressRange[],
): Error | null {
  const isForbidden = addresses.some(({ address }) => !mayReach(address, allowed))
  return isForbidden ? new ForbiddenAddressError(`${hostname} is not public`) : null
}
