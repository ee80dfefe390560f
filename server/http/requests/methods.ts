// The methods of requests: those with routes, and all others as one.

import type { IncomingMessage, Server } from 'node:http'

/** Represents all methods without a route. */
const ANY_OTHER: (typeof METHODS)[number] = 'TRACE'
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'] as const
const KNOWN: ReadonlySet<string> = new Set(METHODS)

const asked = new WeakMap<IncomingMessage, string>()

/**
 * Routes requests of all other methods, such as PROPFIND and QUERY, as those of one method: thirty more routes for each
 * path would take memory.
 */
export function routeOtherMethodsAsOne(server: Server): void {
  server.prependListener('request', (raw: IncomingMessage) => {
    const { method = '' } = raw
    if (KNOWN.has(method)) return
    asked.set(raw, method)
    raw.method = ANY_OTHER
  })
}

/** As the client wrote it. */
export function methodOf(raw: IncomingMessage): string {
  return asked.get(raw) ?? raw.method ?? ''
}
