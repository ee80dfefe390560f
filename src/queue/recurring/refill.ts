// The coming times of recurrences by cron: the server keeps a list of them, and some process makes it longer when it
// gets short. Any number may do so at once, and any of them may fail.

import { type RecurrencesAnswer, type RefillAnswer, recurrences, refill } from '../../generated/queue.ts'
import { learnTold } from '../../runtime/waiting/told.ts'
import { type CronRule, nextTimes } from './recurrence.ts'
import type { Source } from '../source/source.ts'

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
export async function refillAll(source: Source): Promise<void> {
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
  source: Source,
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
