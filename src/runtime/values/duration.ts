import { InvalidArgumentError } from '../errors/errors.ts'
import { messageOf } from '../errors/thrown.ts'

/** A span with its unit: `'250ms'`, `'30s'`, `'5m'`, `'2h'`, `'14d'`. */
export type Duration = `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

export interface DurationBounds {
  min?: Duration
  max?: Duration
}

/** Whole milliseconds of a duration. Throws InvalidArgumentError naming `argument`. */
export function toMs(argument: string, duration: Duration, bounds: DurationBounds = {}): number {
  const ms = parse(duration)
  if (ms === null) {
    throw new InvalidArgumentError(argument, `must be a duration such as '30s', not ${describe(duration)}`)
  }
  const { min = '1ms', max = '3650d' } = bounds
  if (ms < (parse(min) ?? 0) || ms > (parse(max) ?? Infinity)) {
    throw new InvalidArgumentError(argument, `must be between ${min} and ${max}, not ${duration}`)
  }
  return ms
}

// A program uses few different durations, again and again.
const MOST_KNOWN = 1000
const known = new Map<string, number>()

/** Rounded up; null for a value that is no duration. */
function parse(duration: unknown): number | null {
  if (typeof duration !== 'string') return null
  const before = known.get(duration)
  if (before !== undefined) return before
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(duration)
  if (match === null) return null
  const ms = Math.ceil(Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS])
  if (known.size < MOST_KNOWN) known.set(duration, ms)
  return ms
}

function describe(value: unknown): string {
  return typeof value === 'string' ? `'${value.slice(0, 40)}'` : messageOf(value)
}
