// The answers of a queue about itself, by the model.

import type { Job } from './queue-job.ts'
import type { QueueModel } from './queue-model.ts'

const STATES = [['ready'], ['scheduled'], ['claimed', 'stopping'], ['dead'], ['done']] as const

export function inspectionOf(model: QueueModel): unknown[] {
  const { paused, concurrency, retentionCount } = model.settings
  const { enqueued, acked, retried, failed, reclaimed, cancelled } = model.counts
  const overdue = model.in('scheduled', 'claimed', 'stopping').filter(({ atMs }) => atMs <= model.nowMs)
  const head = ['inspection', model.nowMs, '*', 'json', paused, concurrency, 0, 0, retentionCount, 0]
  const counted = STATES.map((states) => model.in(...states).length)
  const groups = [overdue.length, model.places.groups, 0]
  const counters = [enqueued, acked, retried, failed, reclaimed, cancelled]
  const bytes = STATES.map((states) => model.bytesIn(...states))
  return [...head, ...counted, ...groups, ...counters, ...bytes, '*', 0, 0, 0, 0]
}

/** The row of a job in the answer to a claim. */
export function claimedRowOf({ number, token, attempts, payload }: Job): unknown[] {
  return [number, token, attempts, 'mail', payload]
}

/** The additional row of a job with options. */
export function optionsOf({ number, priority, spec, group, tags }: Job, at: number): unknown[] {
  const id = spec === null || spec.id === '' ? String(number) : spec.id
  return [at, id, priority, spec?.max_attempts ?? 3, 0, group, '', tags]
}
