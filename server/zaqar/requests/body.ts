// Bodies of requests: bytes → text → JSON.

import { isUtf8 } from 'node:buffer'
import { takesTooLong, TOO_MUCH } from '../../json/effort.ts'
import { badRequest } from '../../http/answers/problems.ts'

export type JsonObject = Readonly<Record<string, unknown>>

/** The text of a body; empty if there is none. */
export function textOfBody(body: unknown): string {
  if (!Buffer.isBuffer(body)) return ''
  if (!isUtf8(body)) throw badRequest('The body must be UTF-8.')
  if (takesTooLong(body)) throw badRequest(`The body ${TOO_MUCH}.`)
  return body.toString('utf8')
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw badRequest('The body must be JSON.')
  }
}

export function parseObject(text: string): JsonObject {
  const value = parseJson(text)
  if (!isObject(value)) throw badRequest('The body must be a JSON object.')
  return value
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A member that must be a whole number; `byDefault` if it is missing. */
export function wholeNumber(
  object: JsonObject,
  name: string,
  byDefault: number,
  [min, max]: readonly [min: number, max: number],
): number {
  if (!Object.hasOwn(object, name)) return byDefault
  const value = object[name]
  if (!isWhole(value, min, max)) throw badRequest(`${name} must be a whole number from ${min} to ${max}.`)
  return value
}

export function isWhole(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max
}
