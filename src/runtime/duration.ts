import { InvalidArgumentError } from './errors.ts'

/** A span with its unit: `'250ms'`, `'30s'`, `'5m'`, `'2h'`, `'14d'`. */
export type Duration = `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

export interface DurationBounds {
  min?: Duration
  max?: Duration
}

/** Whole milliseconds of a duration. Throws InvalidArgumentError naming `argument`. */
export function toMs(argument: string, duration: Duration, bounds: DurationBounds = {}): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(String(duration))
  if (match === null) {
    throw new InvalidArgumentError(argument, `must be a duration such as '30s', not ${describe(duration)}`)
  }
  const ms = Math.ceil(Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS])
  const { min = '1ms', max = '3650d' } = bounds
  if (ms < plainMs(min) || ms > plainMs(max)) {
    throw new InvalidArgumentError(argument, `must be between ${min} and ${max}, not ${duration}`)
  }
  return ms
}

function plainMs(duration: Duration): number {
  const unit = /[a-z]+$/.exec(duration)?.[0] as keyof typeof UNIT_MS
  return Number.parseFloat(duration) * UNIT_MS[unit]
}

function describe(value: unknown): string {
  return typeof value === 'string' ? `'${value.slice(0, 40)}'` : String(value)
}
