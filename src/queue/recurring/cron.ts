// When a cron expression runs. The library croner reads expressions and knows their calendar; where clocks are
// set, the two kinds of expressions differ (docs/decisions/0015-cron-and-time-zones.md).

import { Cron } from 'croner'
import { checkText } from '../../runtime/values/arguments.ts'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { WallClock } from './wall-clock.ts'

const MAX_BYTES = 256
const FORM =
  "must be five fields (minute hour day month weekday) such as '0 9 * * MON-FRI', six with seconds in front, or one of @hourly, @daily, @weekly, @monthly, @yearly"

/** The expression with single spaces. Throws InvalidArgumentError, also for one that would never run. */
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

// Each instant at which the clocks show a time of the expression. Where they are not set before the next one, that is the next
// wall time; croner knows the others, at ten times the cost.
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

/** Tells wall times, as the runs of clocks in UTC; by arithmetic, which a time zone would rule out. */
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
