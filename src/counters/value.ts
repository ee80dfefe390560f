import { InvalidArgumentError } from '../runtime/errors/errors.ts'

/** A 64-bit integer: a number while that is exact, a bigint from 2^53. */
export type CounterValue = number | bigint

export function toValue(text: string): CounterValue {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text)
}

/** The value minus `less`, exact. */
export function valueLess(value: CounterValue, less: number): CounterValue {
  const number = typeof value === 'number' ? value - less : Number.NaN
  return Number.isSafeInteger(number) ? number : toValue(String(BigInt(value) - BigInt(less)))
}

/** Throws InvalidArgumentError. */
export function checkDelta(argument: string, delta: unknown): number {
  if (typeof delta !== 'number' || !Number.isSafeInteger(delta)) {
    throw new InvalidArgumentError(argument, 'must be a whole number between -2^53 and 2^53')
  }
  return delta
}
