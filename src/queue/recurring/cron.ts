// The times of cron expressions. The library croner parses expressions and knows their calendar. When clocks change,
// the two kinds of expressions differ (docs/decisions/0015-cron-and-time-zones.md).

import { Cron } from 'croner'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { checkText } from '../../runtime/values/arguments.ts'

const MAX_BYTES = 256
const FORM =
  "must be five fields (minute hour day month weekday) such as '0 9 * * MON-FRI', six with seconds in front, or one of @hourly, @daily, @weekly, @monthly, @yearly"

/** The expression with single spaces. Throws InvalidArgumentError, also for an expression that would never run. */
export function checkCron(cron: unknown): string {
  const text = checkText('cron', cron, MAX_BYTES).trim().replace(/ +/g, ' ')
  if (wallsOf(text).nextRun(new Date(0)) === null) {
    throw new InvalidArgumentError('cron', `must have a day that exists: '${text}' would never run`)
  }
  return text
}

/** The first runs after an instant, at most `count`, rising, none twice. */
export function cronTimes(cron: string, timeZone: string, afterMs: number, count: number): number[] {
  const clock = WallClock.of(timeZone)
  return isFixed(cron) ? fixedTimes(cron, clock, afterMs, count) : freeTimes(cron, clock, afterMs, count)
}

// Each wall time of the expression runs once, when the clocks first show it or have passed it. Wall times that
// are not later than the clocks' at `afterMs` have had their run.
function fixedTimes(cron: string, clock: WallClock, afterMs: number, count: number): number[] {
  const walls = wallsOf(cron)
  const times: number[] = []
  let last = afterMs
  let wall = walls.nextRun(new Date(clock.read(afterMs)))
  while (wall !== null && times.length < count) {
    const time = clock.firstAt(wall.getTime())
    if (time > last) times.push((last = time))
    wall = walls.nextRun(wall)
  }
  return times
}

// Each instant at which the clocks show a time of the expression. If the clocks do not change before the next one, it
// is the next wall time. croner computes the others, at ten times the cost.
function freeTimes(cron: string, clock: WallClock, afterMs: number, count: number): number[] {
  const walls = wallsOf(cron)
  const times: number[] = []
  for (let last = afterMs; times.length < count; ) {
    const wall = walls.nextRun(new Date(clock.read(last)))
    if (wall === null) break
    const time = clock.nextShowing(wall.getTime(), last) ?? zonedOf(cron, clock).nextRun(new Date(last))
    if (time === null) break
    times.push((last = Number(time)))
  }
  return times
}

/** Whether seconds, minutes and hours are all written out, as numbers, lists or ranges. */
function isFixed(cron: string): boolean {
  const timesOfDay = cron.split(' ').slice(0, -3)
  return cron.toLowerCase() !== '@hourly' && !/[*?/]/.test(timesOfDay.join(' '))
}

// A program has few expressions, and many recurring jobs may share one.
const MOST_KEPT = 500
const kept = new Map<string, Cron>()

/** Computes wall times as runs in UTC, by plain arithmetic, which would not work in a time zone. */
function wallsOf(cron: string): Cron {
  return keep(cron, () => parse(cron, { utcOffset: 0 }))
}

function zonedOf(cron: string, { timeZone }: WallClock): Cron {
  return keep(`${cron} ${timeZone}`, () => parse(cron, { timezone: timeZone }))
}

function keep(key: string, make: () => Cron): Cron {
  const known = kept.get(key)
  if (known !== undefined) return known
  const made = make()
  if (kept.size >= MOST_KEPT) kept.clear()
  kept.set(key, made)
  return made
}

function parse(cron: string, place: { utcOffset: number } | { timezone: string }): Cron {
  // A text with a colon is a date to croner.
  const fields = cron.split(' ').length
  const formed = cron.startsWith('@') ? fields === 1 : fields === 5 || fields === 6
  if (!formed || cron.includes(':')) throw new InvalidArgumentError('cron', `${FORM}, not '${cron}'`)
  try {
    return new Cron(cron, { ...place, mode: '5-or-6-parts' })
  } catch (error) {
    throw new InvalidArgumentError('cron', `${FORM}, not '${cron}' (${reasonOf(error)})`)
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.replace('CronPattern: ', '') : String(error)
}

// Wall clocks of time zones. A wall time is represented as the milliseconds since 1970
// at which a clock in UTC shows the same, and has whole seconds.

const SECOND = 1000
const DAY = 86_400_000

// Makes the output independent of the locale of the process.
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

// Limits of the caches: zones, and days of each zone.
const MOST_ZONES = 100
const MOST_DAYS = 1000
const MOST_DAYS_BETWEEN = 50
const clocks = new Map<string, WallClock>()

export class WallClock {
  readonly timeZone: string
  readonly #format: Intl.DateTimeFormat
  /** How far the clocks are ahead of UTC on a day of UTC; NaN when they change on it. `Intl` is fifty times as slow. */
  readonly #days = new Map<number, number>()

  private constructor(timeZone: string) {
    this.timeZone = timeZone
    this.#format = formatOf(timeZone)
  }

  /** Throws InvalidArgumentError for anything but an IANA time zone. */
  static of(timeZone: string): WallClock {
    const known = clocks.get(timeZone)
    if (known !== undefined) return known
    const clock = new WallClock(timeZone)
    if (clocks.size >= MOST_ZONES) clocks.clear()
    clocks.set(timeZone, clock)
    return clock
  }

  /** The wall time at an instant. */
  read(instantMs: number): number {
    const aheadMs = this.#aheadOn(Math.floor(instantMs / DAY))
    if (Number.isNaN(aheadMs)) return this.#ask(instantMs)
    return Math.floor(instantMs / SECOND) * SECOND + aheadMs
  }

  /** When the clocks show a wall time after an instant; null when they may change before that. */
  nextShowing(wall: number, afterMs: number): number | null {
    const day = Math.floor(afterMs / DAY)
    const aheadMs = this.#aheadOn(day)
    const time = wall - aheadMs
    const last = Math.floor(time / DAY)
    if (Number.isNaN(aheadMs) || last > day + MOST_DAYS_BETWEEN) return null
    for (let each = day; each <= last; each += 1) if (this.#aheadOn(each) !== aheadMs) return null
    return time
  }

  // No zone changes its clocks twice a day.
  #aheadOn(day: number): number {
    const known = this.#days.get(day)
    if (known !== undefined) return known
    const [first, last] = [day * DAY, (day + 1) * DAY - SECOND]
    const aheadMs = this.#ask(first) - first
    const offset = this.#ask(last) - last === aheadMs ? aheadMs : Number.NaN
    if (this.#days.size >= MOST_DAYS) this.#days.clear()
    this.#days.set(day, offset)
    return offset
  }

  #ask(instantMs: number): number {
    const part: Record<string, number> = {}
    for (const { type, value } of this.#format.formatToParts(instantMs)) part[type] = Number(value)
    const { year = 0, month = 1, day, hour, minute, second } = part
    return Date.UTC(year, month - 1, day, hour, minute, second)
  }

  /** The first instant at which the clocks show a wall time, or a later one if that wall time is in a gap. */
  firstAt(wall: number): number {
    const offsets = [wall - DAY, wall + DAY].map((instant) => this.read(instant) - instant)
    const earliest = wall - Math.max(...offsets)
    if (this.read(earliest) === wall) return earliest
    return this.#firstShowing(wall, earliest, wall - Math.min(...offsets))
  }

  // Between the two the clocks can only be set forward, so wall times only rise.
  #firstShowing(wall: number, before: number, at: number): number {
    if (at - before <= SECOND) return at
    const middle = before + Math.floor((at - before) / 2 / SECOND) * SECOND
    return this.read(middle) < wall
      ? this.#firstShowing(wall, middle, at)
      : this.#firstShowing(wall, before, middle)
  }
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  // Offsets such as +01:00 have no clock changes, and only newer versions of Node accept them.
  if (typeof timeZone !== 'string' || !/^[A-Za-z]/.test(timeZone)) throw noTimeZone(timeZone)
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, ...FIELDS })
  } catch {
    throw noTimeZone(timeZone)
  }
}

function noTimeZone(timeZone: unknown): InvalidArgumentError {
  const shown = typeof timeZone === 'string' ? `'${timeZone.slice(0, 40)}'` : String(timeZone)
  return new InvalidArgumentError(
    'timeZone',
    `must be an IANA time zone such as 'Europe/Berlin', not ${shown}`,
  )
}
