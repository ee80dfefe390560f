// What the clocks on the wall of a time zone show. A wall time is written as the milliseconds since 1970
// at which a clock in UTC shows the same, and has whole seconds.

import { InvalidArgumentError } from '../runtime/errors.ts'

const SECOND = 1000
const DAY = 86_400_000

// With it, wall times are read as they are, in any language of the process.
const FIELDS = {
  calendar: 'iso8601',
  numberingSystem: 'latn',
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
} as const

/** Throws InvalidArgumentError for what is no IANA time zone. */
export class WallClock {
  readonly #format: Intl.DateTimeFormat

  constructor(timeZone: string) {
    this.#format = formatOf(timeZone)
  }

  /** What the clocks show at an instant. */
  read(instantMs: number): number {
    const part: Record<string, number> = {}
    for (const { type, value } of this.#format.formatToParts(instantMs)) part[type] = Number(value)
    const { year = 0, month = 1, day, hour, minute, second } = part
    return Date.UTC(year, month - 1, day, hour, minute, second)
  }

  /** The first instant at which the clocks show a wall time, or a later one where that one is left out. */
  firstAt(wall: number): number {
    const offsets = [wall - DAY, wall + DAY].map((instant) => this.read(instant) - instant)
    const earliest = wall - Math.max(...offsets)
    if (this.read(earliest) === wall) return earliest
    return this.#firstShowing(wall, earliest, wall - Math.min(...offsets))
  }

  // Between the two the clocks are set forward at most, so what they show only rises.
  #firstShowing(wall: number, before: number, at: number): number {
    if (at - before <= SECOND) return at
    const middle = before + Math.floor((at - before) / 2 / SECOND) * SECOND
    return this.read(middle) < wall
      ? this.#firstShowing(wall, middle, at)
      : this.#firstShowing(wall, before, middle)
  }
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  // Offsets such as +01:00 have no switches, and only newer versions of Node take them.
  if (typeof timeZone !== 'string' || !/^[A-Za-z]/.test(timeZone)) throw noTimeZone(timeZone)
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, ...FIELDS })
  } catch {
    throw noTimeZone(timeZone)
  }
}

function noTimeZone(timeZone: unknown): InvalidArgumentError {
  const told = typeof timeZone === 'string' ? `'${timeZone.slice(0, 40)}'` : String(timeZone)
  return new InvalidArgumentError(
    'timeZone',
    `must be an IANA time zone such as 'Europe/Berlin', not ${told}`,
  )
}
