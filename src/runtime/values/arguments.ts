// Checks of callers' arguments. Each throws InvalidArgumentError with the argument's name and the expected value,
// before anything is sent.

import { isUint8Array } from 'node:util/types'
import { InvalidArgumentError } from '../errors/errors.ts'

// oxlint-disable-next-line no-control-regex -- the pattern must match control characters
const CONTROL = /[\u0000-\u001f\u007f]/
const ASCII = /^[\u0020-\u007e]+$/

/** Whether a value is a Uint8Array, also of another realm. */
export const isBytes: (value: unknown) => value is Uint8Array = isUint8Array

/** A whole number within bounds, both included. */
export function checkInteger(argument: string, value: unknown, min: number, max: number): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min || value > max) {
    throw new InvalidArgumentError(argument, `must be a whole number from ${min} to ${max}`)
  }
  return value
}

/** A token, as returned by a lease or a take. */
export function checkToken(token: unknown): number {
  return checkInteger('token', token, 1, Number.MAX_SAFE_INTEGER)
}

export function checkFlag(argument: string, value: unknown): boolean {
  if (typeof value !== 'boolean') throw new InvalidArgumentError(argument, 'must be true or false')
  return value
}

/** One of a few words. */
export function checkOneOf<Word extends string>(
  argument: string,
  value: unknown,
  words: readonly Word[],
): Word {
  const word = words.find((known) => known === value)
  if (word === undefined) throw new InvalidArgumentError(argument, `must be one of ${words.join(', ')}`)
  return word
}

/** Text of 1 to `maxBytes` bytes of UTF-8 without control characters or lone surrogates. */
export function checkText(argument: string, value: unknown, maxBytes: number): string {
  // Most texts pass this single test, which costs a third of the three below.
  if (typeof value === 'string' && value.length <= maxBytes && ASCII.test(value)) return value
  if (typeof value !== 'string') throw new InvalidArgumentError(argument, 'must be a string')
  if (value === '') throw new InvalidArgumentError(argument, 'must not be empty')
  if (CONTROL.test(value)) {
    throw new InvalidArgumentError(argument, 'must not contain control characters')
  }
  checkWellFormed(argument, value)
  if (Buffer.byteLength(value) > maxBytes) {
    throw new InvalidArgumentError(argument, `must be at most ${maxBytes} bytes of UTF-8`)
  }
  return value
}

/** Options must be an object, so that a misplaced argument is not silently ignored. */
export function checkOptions(argument: string, value: unknown, known: readonly string[]): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidArgumentError(argument, 'must be an object')
  }
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) {
      const others = known.length === 0 ? 'there are none' : `known are ${known.join(', ')}`
      throw new InvalidArgumentError(`${argument}.${key}`, `is not known; ${others}`)
    }
    if (key === 'signal') checkSignal((value as { signal: unknown }).signal)
  }
}

/**
 * Rejects an AbortController in place of its signal, because its abort would never be noticed. Null means no signal, as
 * for `fetch`. A signal of another realm or a polyfill is no instance of our class. Throws InvalidArgumentError.
 */
export function checkSignal(signal: unknown): void {
  if (signal === undefined || signal === null) return
  const { throwIfAborted, addEventListener } = signal as Partial<AbortSignal>
  if (typeof throwIfAborted === 'function' && typeof addEventListener === 'function') return
  throw new InvalidArgumentError('signal', 'must be an AbortSignal')
}

/** A function that is called while a lease is held: without one, the lease would be useless. */
export function checkFunction(argument: string, value: unknown): void {
  if (typeof value !== 'function') throw new InvalidArgumentError(argument, 'must be a function')
}

/** Text that UTF-8 can represent: two texts with different lone surrogates would become the same bytes. */
export function checkWellFormed(argument: string, value: unknown): string {
  if (typeof value !== 'string') throw new InvalidArgumentError(argument, 'must be text')
  if (!value.isWellFormed()) {
    throw new InvalidArgumentError(argument, 'must be valid Unicode: it holds half a surrogate pair')
  }
  return value
}
