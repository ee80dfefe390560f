// The times of recurring jobs. The server keeps a list of the next times, and spawns what is due by its own clock.
// The times of a cron expression are computed here, because the server knows no time zones.

import { recurrences, type RecurrencesAnswer, refill, type RefillAnswer } from '../../generated/queue.ts'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { checkInteger, checkOptions } from '../../runtime/values/arguments.ts'
import { type Duration, toMs } from '../../runtime/values/duration.ts'
import { learnNotifyChannel } from '../../runtime/waiting/notify-channel.ts'
import type { QueueSource } from '../source/source.ts'
import { checkCron, cronTimes, WallClock } from './cron.ts'

/**
 * What happens to misfires: runs that were due while no worker asked for jobs, or the queue was paused. A run is
 * missed when a later one is due as well, or when it is late by more than a minute.
 */
export interface MissedRuns {
  /**
   * `'skip'`: missed runs spawn no job; `'one'` (default): the latest due run spawns one job for all of them;
   * `{ upTo: n }`: each of the latest n runs spawns a job, n up to 1000.
   */
  missed?: 'skip' | 'one' | { upTo: number }
}

/** A fixed interval, counted from 1970 in UTC: `{ every: '15m', offset: '5m' }` runs at 5, 20, 35 and 50 past. */
export interface IntervalRecurrence extends MissedRuns {
  every: Duration
  /** Shorter than `every`; default 0. */
  offset?: Duration
}

/**
 * A cron expression, by the wall clock of a time zone.
 *
 * `cron` has the fields minute, hour, day, month and weekday, and may have one for seconds in front. A field is
 * `*`, a number, a range, a list, or a step: `*` or a range, then `/` and a number. Months and weekdays also have
 * names (`JAN`, `MON`); Sunday is 0 or 7. `L` is the last day of the month, `FRIL` the last Friday, `FRI#2` the
 * second, `15W` the working day nearest to the 15th. If both day and weekday are given, either is enough; with
 * `+` before the weekday (`0 9 13 * +FRI`) both must match. `@hourly`, `@daily`, `@weekly`, `@monthly` and
 * `@yearly` are allowed instead of the fields.
 *
 * When daylight saving time changes the clocks, the form of the time of day matters:
 *
 * - Written out as numbers, lists or ranges (`30 2 * * *`, `0 9-17 * * *`), each wall time runs once. All wall times in
 *   a gap share one run at the first instant after the gap. A wall time that occurs twice runs at its first occurrence.
 *   So a daily job runs once a day.
 * - With a `*`, `?` or step for second, minute or hour (`0 * * * *`, but also `0-59/15 2 * * *`), it runs at every
 *   instant at which the clocks show a matching time: not in a gap, and in both passes of a repeated hour.
 *
 * No instant has two runs.
 */
export interface CronRecurrence extends MissedRuns {
  cron: string
  /** An IANA name such as `Europe/Berlin`; default `UTC`, in any time zone of the process. */
  timeZone?: string
}

export type Recurrence = IntervalRecurrence | CronRecurrence

interface Rule {
  /** How many missed runs spawn a job at most. */
  readonly missed: number
}

export interface IntervalRule extends Rule {
  readonly kind: 'interval'
  readonly everyMs: number
  readonly offsetMs: number
}

export interface CronRule extends Rule {
  readonly kind: 'cron'
  readonly cron: string
  readonly timeZone: string
}

/** A recurrence as the server stores it. */
export type RecurrenceRule = IntervalRule | CronRule

const MAX_MISSED = 1000
const MAX_TIMES = 1000
const MAX_INSTANT = Date.UTC(9999, 0)

/** Throws InvalidArgumentError, which names the option. */
export function toRecurrence(options: Recurrence): RecurrenceRule {
  checkOptions('recurrence', options, ['every', 'offset', 'cron', 'timeZone', 'missed'])
  if ('every' in options === 'cron' in options) {
    throw new InvalidArgumentError('recurrence', 'must have either every or cron')
  }
  return 'cron' in options ? toCronRule(options) : toIntervalRule(options)
}

function toIntervalRule(options: IntervalRecurrence): IntervalRule {
  checkOptions('recurrence', options, ['every', 'offset', 'missed'])
  const everyMs = toMs('every', options.every, { min: '1s', max: '366d' })
  const offsetMs = toMs('offset', options.offset ?? '0ms', { min: '0ms' })
  if (offsetMs >= everyMs) throw new InvalidArgumentError('offset', 'must be shorter than every')
  return { kind: 'interval', everyMs, offsetMs, missed: toMissed(options.missed) }
}

function toCronRule(options: CronRecurrence): CronRule {
  checkOptions('recurrence', options, ['cron', 'timeZone', 'missed'])
  const { timeZone = 'UTC' } = options
  void WallClock.of(timeZone)
  return { kind: 'cron', cron: checkCron(options.cron), timeZone, missed: toMissed(options.missed) }
}

function toMissed(missed: MissedRuns['missed'] = 'one'): number {
  if (missed === 'skip') return 0
  if (missed === 'one') return 1
  if (typeof missed !== 'object' || missed === null) {
    throw new InvalidArgumentError('missed', "must be 'skip', 'one' or { upTo }")
  }
  checkOptions('missed', missed, ['upTo'])
  return checkInteger('missed.upTo', missed.upTo, 1, MAX_MISSED)
}

/**
 * The first run times after an instant (not at it), in milliseconds since 1970, rising. Returns `count` times, and
 * fewer only where the calendar ends. Independent of the process's clock and time zone.
 */
export function nextTimes(rule: RecurrenceRule, afterMs: number, count: number): number[] {
  checkInteger('afterMs', afterMs, 0, MAX_INSTANT)
  checkInteger('count', count, 1, MAX_TIMES)
  if (rule.kind === 'cron') return cronTimes(rule.cron, rule.timeZone, afterMs, count)
  const { everyMs, offsetMs } = rule
  const first = (Math.floor((afterMs - offsetMs) / everyMs) + 1) * everyMs + offsetMs
  return Array.from({ length: count }, (_, index) => first + index * everyMs)
}

// The next times of cron recurrences. The server keeps a list of them, and any process refills it when it gets short.
// Several processes may do so at once, and any of them may fail.

/** A recurrence and the last of its times that the server has. */
export interface Short {
  readonly id: string
  readonly rule: CronRule
  readonly knownMs: number
}

const COMING = 50
// Each recurrence comes with its payload.
const PAGE = 20
// Small, so that a rule with rare times is not computed for centuries ahead.
const STEP = 20
const FIRST_SPAN_MS = 60_000

/** Refills all short recurrences. Skips those that fail, and throws the last failure in the end. */
export async function refillAll(source: QueueSource): Promise<void> {
  const { unit, codec } = source
  let [after, failure] = [0, undefined as unknown]
  for (;;) {
    const asked = { codec: codec.name, after, limit: PAGE, onlyShort: true, wanted: [] }
    const page = await unit.run(recurrences, asked)
    for (const raw of page.recurrences) {
      // A refilled one leaves the list of short ones, which shifts the cursor.
      const answer = await refillOne(source, toShort(raw), page.nowMs).catch((error: unknown) => {
        failure = error
        return null
      })
      if (isStillShort(answer)) after += 1
    }
    if (page.next < 0) break
  }
  if (failure !== undefined) throw failure
}

/** Null: the refill failed; `changed`: another process has replaced the recurrence, and refills it. */
function isStillShort(answer: RefillAnswer | null): boolean {
  return answer === null || answer.status === 'changed' || (answer.status === 'refilled' && answer.short)
}

export async function refillOne(
  source: QueueSource,
  { id, rule, knownMs }: Short,
  nowMs: number,
): Promise<RefillAnswer> {
  const { unit, codec } = source
  const given = comingTimes(rule, knownMs, nowMs)
  const { cron, timeZone } = rule
  const notifyChannel = await learnNotifyChannel(unit)
  const args = { codec: codec.name, ...notifyChannel, id, cron, timeZone, afterMs: knownMs, given }
  return unit.run(refill, args)
}

function toShort(raw: RecurrencesAnswer['recurrences'][number]): Short {
  const { id, cron, timeZone, missed, knownMs } = raw
  return { id, knownMs, rule: { kind: 'cron', cron, timeZone, missed } }
}

/**
 * The times after the known ones: of the past ones only the latest, as many as may still spawn jobs, and then the next
 * ones.
 */
export function comingTimes(rule: CronRule, knownMs: number, nowMs: number): number[] {
  if (knownMs >= nowMs) return nextTimes(rule, knownMs, COMING)
  return [...latestTimes(rule, knownMs, nowMs), ...nextTimes(rule, nowMs, COMING)]
}

function latestTimes(rule: CronRule, afterMs: number, endMs: number): number[] {
  const count = Math.max(1, rule.missed)
  for (let spanMs = FIRST_SPAN_MS; ; spanMs *= 4) {
    const fromMs = Math.max(afterMs, endMs - spanMs)
    const times = timesBetween(rule, fromMs, endMs)
    if (times.length >= count || fromMs === afterMs) return times.slice(-count)
  }
}

function timesBetween(rule: CronRule, afterMs: number, endMs: number): number[] {
  const times: number[] = []
  let from = afterMs
  for (;;) {
    const found = nextTimes(rule, from, STEP)
    times.push(...found.filter((time) => time <= endMs))
    const last = found.at(-1)
    if (last === undefined || last > endMs || found.length < STEP) return times
    from = last
  }
}
