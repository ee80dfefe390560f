// When a cron expression runs, found by looking at every minute: slow, and too simple to be wrong.

const MINUTE = 60_000
const HOUR = 60 * MINUTE

export interface Field {
  readonly text: string
  readonly matches: (value: number) => boolean
}

/** Minute, hour, day, month, weekday. */
export type Fields = readonly [Field, Field, Field, Field, Field]

const formats = new Map<string, Intl.DateTimeFormat>()

/** The clocks of a zone: the instant at which a clock in UTC shows the same. */
export function wallAt(timeZone: string, instant: number): number {
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone, ...STYLE })
  formats.set(timeZone, format)
  return Date.parse(`${format.format(instant).replace(' ', 'T')}Z`)
}

// In Swedish, this is written 2026-03-29 02:30:00.
const STYLE = { dateStyle: 'short', timeStyle: 'medium' } as const

/** All runs after `from` up to `to`. */
export function scan(fields: Fields, timeZone: string, from: number, to: number): number[] {
  const first = Math.floor(from / MINUTE) * MINUTE - 3 * HOUR
  const isFixed = !/[*/]/.test(`${fields[0].text} ${fields[1].text}`)
  const runs: number[] = []
  let reached = wallAt(timeZone, first - MINUTE)
  for (let instant = first; instant <= to; instant += MINUTE) {
    const wall = wallAt(timeZone, instant)
    const runsNow = isFixed ? anyMatches(fields, reached + MINUTE, wall) : anyMatches(fields, wall, wall)
    reached = Math.max(reached, wall)
    if (runsNow && instant > from) runs.push(instant)
  }
  return runs
}

function anyMatches(fields: Fields, from: number, to: number): boolean {
  for (let wall = from; wall <= to; wall += MINUTE) if (wallMatches(fields, wall)) return true
  return false
}

function wallMatches([minute, hour, day, month, weekday]: Fields, wall: number): boolean {
  const date = new Date(wall)
  const dayMatches = day.matches(date.getUTCDate())
  const weekdayMatches = weekday.matches(date.getUTCDay())
  const either = day.text !== '*' && weekday.text !== '*'
  return (
    minute.matches(date.getUTCMinutes()) &&
    hour.matches(date.getUTCHours()) &&
    month.matches(date.getUTCMonth() + 1) &&
    (either ? dayMatches || weekdayMatches : dayMatches && weekdayMatches)
  )
}
