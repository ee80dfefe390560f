// What the clocks on the wall of a time zone show. A wall time is written as the milliseconds since 1970
// at which a clock in UTC shows the same, and has whole seconds.

import { InvalidArgumentError } from '../../runtime/errors/errors.ts'

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

// Of each zone that is used, and of each of its days that is asked for.
const MOST_ZONES = 100
const MOST_DAYS = 1000
const MOST_DAYS_BETWEEN = 50
const clocks = new Map<string, WallClock>()

export class WallClock {
  readonly timeZone: string
  readonly #format: Intl.DateTimeFormat
  /** How far the clocks are ahead of UTC on a day of UTC; NaN: they are set on it. To ask `Intl` costs fifty times as much. */
  readonly #days = new Map<number, number>()

  private constructor(timeZone: string) {
    this.timeZone = timeZone
    this.#format = formatOf(timeZone)
  }

  /** Throws InvalidArgumentError for what is no IANA time zone. */
  static of(timeZone: string): WallClock {
    const known = clocks.get(timeZone)
    if (known !== undefined) return known
    const clock = new WallClock(timeZone)
    if (clocks.size >= MOST_ZONES) clocks.clear()
    clocks.set(timeZone, clock)
    return clock
  }

  /** What the clocks show at an instant. */
  read(instantMs: number): number {
    const aheadMs = this.#aheadOn(Math.floor(instantMs / DAY))
    if (Number.isNaN(aheadMs)) return this.#ask(instantMs)
    return Math.floor(instantMs / SECOND) * SECOND + aheadMs
  }

  /** When the clocks show a wall time that comes after an instant, where they are not set until then; null: perhaps they are. */
  nextShowing(wall: number, afterMs: number): number | null {
    const day = Math.floor(afterMs / DAY)
    const aheadMs = this.#aheadOn(day)
    const time = wall - aheadMs
    const last = Math.floor(time / DAY)
    if (Number.isNaN(aheadMs) || last > day + MOST_DAYS_BETWEEN) return null
    for (let each = day; each <= last; each += 1) if (this.#aheadOn(each) !== aheadMs) return null
    return time
  }

  // No zone sets its clocks twice a day.
  #aheadOn(day: number): number {
    const known = this.#days.get(day)
    if (known !== undefined) return known
    const [first, last] = [day * DAY, (day + 1) * DAY - SECOND]
    const aheadMs = this.#ask(first) - first
    const told = this.#ask(last) - last === aheadMs ? aheadMs : Number.NaN
    if (this.#days.size >= MOST_DAYS) this.#days.clear()
    this.#days.set(day, told)
    return told
  }

  #ask(instantMs: number): number {
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
