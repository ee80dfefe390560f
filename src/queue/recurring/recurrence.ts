// When a recurring job runs. The server keeps a list of coming times and spawns what is due by its own clock;
// the times of a cron expression are computed here, for it knows no time zones.

import { recurrences, type RecurrencesAnswer, refill, type RefillAnswer } from '../../generated/queue.ts'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { checkInteger, checkOptions } from '../../runtime/values/arguments.ts'
import { type Duration, toMs } from '../../runtime/values/duration.ts'
import { learnTold } from '../../runtime/waiting/notify-channel.ts'
import type { QueueSource } from '../source/source.ts'
import { checkCron, cronTimes, WallClock } from './cron.ts'

/**
 * What becomes of runs that came due while nobody asked for jobs, or the queue was paused. A run is missed when a later
 * one is due, too, or when it is late by more than a minute.
 */
export interface MissedRuns {
  /**
   * `'skip'`: none has a job; `'one'`, the default: there is one job for all that are due, that of the latest;
   * `{ upTo: n }`: the latest n have one each.
   */
  missed?: 'skip' | 'one' | { upTo: number }
}

/** Every so often, counted from 1970 in UTC: `{ every: '15m', offset: '5m' }` runs at 5, 20, 35 and 50 past. */
export interface IntervalRecurrence extends MissedRuns {
  every: Duration
  /** Shorter than `every`; default: none. */
  offset?: Duration
}

/**
 * By the clocks on the wall of a time zone.
 *
 * `cron` has the fields minute, hour, day, month and weekday, and may have one for seconds in front. A field is
 * `*`, a number, a range, a list, or a step: `*` or a range, then `/` and a number. Months and weekdays also have
 * names (`JAN`, `MON`); Sunday is 0 or 7. `L` is the last day of the month, `FRIL` the last Friday, `FRI#2` the
 * second, `15W` the working day nearest to the 15th. Where both day and weekday are given, either is enough; with
 * `+` before the weekday (`0 9 13 * +FRI`) both must hold. `@hourly`, `@daily`, `@weekly`, `@monthly` and
 * `@yearly` stand for what they say.
 *
 * Where the clocks are set, it matters how the time of day is written:
 *
 * - Written out, as numbers, lists or ranges (`30 2 * * *`, `0 9-17 * * *`), each wall time runs once. One that is
 *   left out runs at the first instant after the gap, together with all that fell into it; of one that comes
 *   twice, the first occurrence runs. So a daily job runs once a day.
 * - With a `*`, `?` or step for second, minute or hour (`0 * * * *`, but also `0-59/15 2 * * *`), it runs at every
 *   instant at which the clocks show a time that matches: not in a gap, and in both passes of a repeated hour.
 *
 * No instant has two runs.
 */
export interface CronRecurrence extends MissedRuns {
  cron: string
  /** An IANA name such as `Europe/Berlin`; default `UTC`, wherever the process is. */
  timeZone?: string
}

export type Recurrence = IntervalRecurrence | CronRecurrence

interface Rule {
  /** The most missed runs that are made up for. */
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

/** A recurrence as the scripts keep it. */
export type RecurrenceRule = IntervalRule | CronRule

const MAX_MISSED = 1000
const MAX_TIMES = 1000
const MAX_INSTANT = Date.UTC(9999, 0)

/** Throws InvalidArgumentError, with the name of the option. */
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
 * The first run times after an instant (not at it), in milliseconds since 1970, rising; at most `count`, and fewer
 * only where the calendar ends. The process's own clock and time zone have no say.
 */
export function nextTimes(rule: RecurrenceRule, afterMs: number, count: number): number[] {
  checkInteger('afterMs', afterMs, 0, MAX_INSTANT)
  checkInteger('count', count, 1, MAX_TIMES)
  if (rule.kind === 'cron') return cronTimes(rule.cron, rule.timeZone, afterMs, count)
  const { everyMs, offsetMs } = rule
  const first = (Math.floor((afterMs - offsetMs) / everyMs) + 1) * everyMs + offsetMs
  return Array.from({ length: count }, (_, index) => first + index * everyMs)
}

// The coming times of recurrences by cron: the server keeps a list of them, and some process makes it longer when it
// gets short. Any number may do so at once, and any of them may fail.

/** A recurrence, and the last of its times that the server knows. */
export interface Short {
  readonly id: string
  readonly rule: CronRule
  readonly knownMs: number
}

const COMING = 50
// Each comes with its payload.
const PAGE = 20
// So that a rule with few times is not computed for centuries.
const STEP = 20
const FIRST_SPAN_MS = 60_000

/** Fills all that are short. One that cannot be is passed over; throws what the last of these met. */
export async function refillAll(source: QueueSource): Promise<void> {
  const { unit, codec } = source
  let [after, failure] = [0, undefined as unknown]
  for (;;) {
    const asked = { codec: codec.name, after, limit: PAGE, onlyShort: true, wanted: [] }
    const page = await unit.run(recurrences, asked)
    for (const told of page.recurrences) {
      // What is filled is on the list no more.
      const answer = await refillOne(source, toShort(told), page.nowMs).catch((error: unknown) => {
        failure = error
        return null
      })
      if (isStillShort(answer)) after += 1
    }
    if (page.next < 0) break
  }
  if (failure !== undefined) throw failure
}

/** Null: it could not be filled; `changed`: somebody set it anew, and sees to it. */
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
  const told = await learnTold(unit)
  const args = { codec: codec.name, ...told, id, cron, timeZone, afterMs: knownMs, given }
  return unit.run(refill, args)
}

function toShort(told: RecurrencesAnswer['recurrences'][number]): Short {
  const { id, cron, timeZone, missed, knownMs } = told
  return { id, knownMs, rule: { kind: 'cron', cron, timeZone, missed } }
}

/**
 * The times behind those that are known: of those that are over already only the latest, as many as may still be made
 * up for, and then those to come.
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
