// Jobs as answers show them. Their payloads and results are JSON text already and are put in as they are.

import type { FoundJob, Job, JobEnd, JobPage, LentJob, LentJobs } from 'perilune'

export function encodeLent({ jobs, leaseMs, expiresAtMs }: LentJobs): string {
  return `{"leaseMs":${leaseMs},"expiresAtMs":${expiresAtMs},"jobs":[${jobs.map(encodeLentJob).join(',')}]}`
}

export function encodePage({ jobs, next }: JobPage): string {
  return `{"jobs":[${jobs.map((job) => encodeJob(job)).join(',')}],"next":${JSON.stringify(next)}}`
}

export function encodeJob({ payload, result, progress, ...shown }: Job | FoundJob): string {
  const texts = `"progress":${orNull(progress)},"payload":${orNull(payload)},"result":${orNull(result)}`
  return `${opened(shown)},${texts}}`
}

export function encodeEnd(id: string, { result, ...shown }: JobEnd): string {
  return `${opened({ id, ...shown })},"result":${orNull(result)}}`
}

function encodeLentJob({ payload, ...shown }: LentJob): string {
  return `${opened(shown)},"payload":${orNull(payload)}}`
}

/** An object whose end is still to come. */
function opened(shown: object): string {
  return JSON.stringify(shown).slice(0, -1)
}

/** Payloads are text in these queues; the library may have stored none. */
function orNull(text: unknown): string {
  return typeof text === 'string' && text !== '' ? text : 'null'
}
