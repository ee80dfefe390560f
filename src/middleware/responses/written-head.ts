// The head of a Node response as its handler set it, including headers passed to `writeHead`, which Node sends without
// storing them.

import type { ServerResponse } from 'node:http'
import type { Headers } from './answer.ts'
import { linesOf } from './standing-headers.ts'

type Noted = Pick<ServerResponse, 'getHeader' | 'getHeaderNames' | 'setHeader'> & {
  /** Exists in HTTP/1 only. */
  getRawHeaderNames?(): string[]
}

/** `(status, [message], [headers])`; headers are an object, alternating names and values, or pairs. */
export type HeadWritten = [status: unknown, message?: unknown, headers?: unknown]

/** Headers in their original spelling, one value per line. */
export function headersOf(response: Omit<Noted, 'setHeader'>): Headers {
  const names = response.getRawHeaderNames?.() ?? response.getHeaderNames()
  return names.flatMap((name) => linesOf(response.getHeader(name)).map((line) => [name, line] as const))
}

/** The head sent by these arguments. Node does not store it when no header was set before. */
export function headSent(
  response: Omit<Noted, 'setHeader'> & { readonly statusCode: number },
  [, message, headers]: HeadWritten,
): { readonly status: number; readonly headers: Headers } {
  const given = linesByName(typeof message === 'string' ? headers : (headers ?? message))
  const names = new Set([...given.keys()].map((name) => name.toLowerCase()))
  const standing = headersOf(response).filter(([name]) => !names.has(name.toLowerCase()))
  const added = [...given].flatMap(([name, lines]) => lines.map((line) => [name, line] as const))
  return { status: response.statusCode, headers: [...standing, ...added] }
}

/**
 * Sets the headers on the response, as Node does when others are set already; returns the remaining arguments for Node.
 */
export function noteHeaders(response: Noted, [status, message, headers]: HeadWritten): HeadWritten {
  const isMessage = typeof message === 'string'
  for (const [name, lines] of linesByName(isMessage ? headers : (headers ?? message))) {
    const [first] = lines
    response.setHeader(name, lines.length === 1 && first !== undefined ? first : lines)
  }
  return isMessage ? [status, message] : [status]
}

function linesByName(headers: unknown): ReadonlyMap<string, readonly string[]> {
  const byName = new Map<string, string[]>()
  for (const [name, value] of pairsOf(headers)) {
    const spelt = [...byName.keys()].find((known) => known.toLowerCase() === name.toLowerCase()) ?? name
    byName.set(spelt, [...(byName.get(spelt) ?? []), ...linesOf(value as string)])
  }
  return byName
}

function pairsOf(headers: unknown): [name: string, value: unknown][] {
  if (!Array.isArray(headers)) return Object.entries(headers ?? {})
  if (Array.isArray(headers[0])) return headers as [string, unknown][]
  return headers.flatMap((name, at) => (at % 2 === 0 ? [[String(name), headers[at + 1]]] : []))
}

/** Whether Node accepts this status. */
export function isStatus(status: number): boolean {
  return Number.isInteger(status) && status >= 100 && status <= 999
}

/** Whether Node accepts this reason phrase; undefined: Node uses its own. */
export function isReason(message: string | undefined): boolean {
  return message === undefined || !/[^\t\x20-\x7e\x80-\xff]/.test(message)
}
