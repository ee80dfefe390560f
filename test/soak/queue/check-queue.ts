// The checkers of a soak of the queue, and what they counted.

import { checkAttempts } from './check-attempts.ts'
import { checkCancelled, isCancelled } from './check-cancelled.ts'
import { checkFamilies, checkSteps } from './check-families.ts'
import { checkJobs } from './check-jobs.ts'
import { checkOrder } from './check-order.ts'
import { faultOf, type QueueFault, type QueueRule } from './fault.ts'
import { type JobStory, type QueueHistory, storiesOf } from './history.ts'
import type { Line } from './log.ts'
import { withoutLost } from './losses.ts'
import type { Plan } from './plan.ts'

export interface QueueVerdict {
  readonly faults: readonly QueueFault[]
  readonly totals: Readonly<Record<string, number>>
  /** How often what went wrong. */
  readonly happened: Readonly<Record<string, number>>
}

export function checkQueue(history: QueueHistory): Omit<QueueVerdict, 'happened'> {
  const { killed, ends, limits, losses } = history
  const lines = losses === undefined ? history.lines : withoutLost(history.lines, losses)
  const all = (['main', 'after'] as const).slice(0, ends.length).map((queue) => storiesOf(lines, queue))
  const [main, after] = all
  const faults = all.flatMap((stories, at) => {
    const those = [...stories.values()]
    const end = ends[at]
    return [
      ...checkAttempts(those, killed, limits),
      ...checkOrder(those, history.isOrdered === true),
      ...(end === undefined ? [] : [...checkJobs(those, end, killed), ...checkCancelled(those, end)]),
    ]
  })
  const families = main === undefined || after === undefined ? [] : checkFamilies(main, after, ends)
  const steps = main === undefined || after === undefined ? [] : checkSteps(main, ends)
  const broken = lines.flatMap((line) => (line.kind === 'broken' ? [`${line.by}: ${line.what}`] : []))
  return {
    faults: sumUp([
      ...faults,
      ...families,
      ...steps,
      ...faultOf('token', givenTwice(history.lines, tokenOf)),
      ...faultOf('twice', givenTwice(history.lines, idOf)),
      ...faultOf('broken', broken),
    ]),
    totals: totalsOf(
      all.flatMap((stories) => [...stories.values()]),
      ends,
    ),
  }
}

/** When a server has lost data: others still know what it gave out then, by its token or its id only. */
function givenTwice(lines: readonly Line[], nameOf: (line: Line) => string | null): string[] {
  const known = new Set<string>()
  return lines.flatMap((line) => {
    const name = nameOf(line)
    return name === null || known.size !== known.add(name).size ? [] : [`${name} was given before`]
  })
}

function tokenOf(line: Line): string | null {
  return line.kind === 'began' ? `token ${line.token} of queue ${line.queue}` : null
}

function idOf(line: Line): string | null {
  return line.kind === 'enqueued' && line.id !== '' ? `id ${line.id} of queue ${line.queue}` : null
}

function totalsOf(stories: readonly JobStory[], ends: QueueHistory['ends']): Record<string, number> {
  const attempts = stories.flatMap((story) => story.attempts)
  const numOf = (outcome: string | null): number =>
    attempts.filter((attempt) => attempt.outcome === outcome).length
  const sum = (count: 'enqueued' | 'acked' | 'dead' | 'reclaimed' | 'cancelled'): number =>
    ends.reduce((all, { inspection }) => all + inspection[count], 0)
  return {
    enqueued: sum('enqueued'),
    unheard: stories.filter(({ enqueuing }) => enqueuing !== 'enqueued').length,
    acked: sum('acked'),
    dead: sum('dead'),
    poisoned: ends.flatMap(({ dead }) => dead).filter(({ payload }) => (payload as Plan).poison).length,
    reclaimed: sum('reclaimed'),
    cancelled: sum('cancelled'),
    'reported cancelled': stories.filter(isCancelled).length,
    attempts: attempts.length,
    retried: numOf('retried'),
    'reported lost': numOf('lost'),
    'without an answer': numOf('unknown') + numOf(null),
  }
}

/** Adds up faults of the same rule. */
function sumUp(faults: readonly QueueFault[]): QueueFault[] {
  const sums = new Map<QueueRule, QueueFault>()
  for (const { rule, count, first } of faults) {
    const before = sums.get(rule)
    sums.set(rule, { rule, count: count + (before?.count ?? 0), first: before?.first ?? first })
  }
  return [...sums.values()]
}
