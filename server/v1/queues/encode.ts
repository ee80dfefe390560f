// Jobs in the form of answers. Their payloads and results are JSON text already and are inserted unchanged.

import type {
  FoundJob,
  FoundPage,
  Job,
  JobEnd,
  JobPage,
  DetachedJob,
  DetachedJobs,
  Dependency,
  RecurringJob,
  RecurringPage,
  UndecodablePart,
} from 'perilune'
import { encodeUndecoded } from '../api/undecoded.ts'

/** `acked`: the outcomes of the acks of the request, if it had any. */
export function encodeDetached(
  { jobs, leaseMs, expiresAtMs }: DetachedJobs,
  acked?: readonly object[],
): string {
  const head = { leaseMs, expiresAtMs, ...(acked === undefined ? {} : { acked }) }
  return `${opened(head)},"jobs":[${jobs.map(encodeDetachedJob).join(',')}]}`
}

export function encodePage({ jobs, next }: JobPage): string {
  return `{"jobs":[${jobs.map((job) => encodeJob(job)).join(',')}],"next":${JSON.stringify(next)}}`
}

export function encodeFound({ jobs, left }: FoundPage): string {
  return `{"jobs":[${jobs.map(encodeJob).join(',')}],"left":${JSON.stringify(left)}}`
}

export function encodeJob({ payload, result, progress, undecodable, ...shown }: Job | FoundJob): string {
  const texts = `"progress":${orNull(progress)},"payload":${orNull(payload)},"result":${orNull(result)}`
  return `${opened(shown)},${encodeParts(undecodable)},${texts}}`
}

export function encodeEnd(id: string, { result, undecodable, ...shown }: JobEnd): string {
  return `${opened({ id, ...shown })},${encodeParts(undecodable)},"result":${orNull(result)}}`
}

export function encodeRecurringPage({ recurring, next }: RecurringPage): string {
  return `{"recurring":[${recurring.map(encodeRecurring).join(',')}],"next":${JSON.stringify(next)}}`
}

export function encodeRecurring({ payload, undecodable, ...shown }: RecurringJob): string {
  return `${opened(shown)},${encodeParts(undecodable)},"payload":${orNull(payload)}}`
}

export function encodeDependencies(dependencies: readonly Dependency[], next: string | null): string {
  return `{"dependencies":[${dependencies.map(encodeDependency).join(',')}],"next":${JSON.stringify(next)}}`
}

function encodeDependency({ result, undecodable, ...shown }: Dependency): string {
  return `${opened(shown)},${encodeParts(undecodable)},"result":${orNull(result)}}`
}

function encodeDetachedJob({ payload, ...shown }: DetachedJob): string {
  return `${opened(shown)},"payload":${orNull(payload)}}`
}

function encodeParts(undecodable: readonly UndecodablePart[]): string {
  const parts = undecodable.map((each) => `{"part":"${each.part}",${encodeUndecoded(each)}}`)
  return `"undecodable":[${parts.join(',')}]`
}

/** An object without its end. */
function opened(shown: object): string {
  return JSON.stringify(shown).slice(0, -1)
}

/** Payloads are text in these queues; the library may have stored none. */
function orNull(text: unknown): string {
  return typeof text === 'string' && text !== '' ? text : 'null'
}
