// The jobs of the bench, and how they come to wait.

import type { Job, Source } from './contender.ts'

/** Jobs of one call of `addBulk`. */
export const BULK = 1000
const IN_FLIGHT = 100

/** What a job has beside its payload. */
export type Kind = (at: number) => Omit<Job, 'payload'>

export function toJob(at: number, kind: Kind = () => ({})): Job {
  return { payload: String(at).padStart(10, '0'), ...kind(at) }
}

export function jobsFrom(from: number, count: number, kind?: Kind): Job[] {
  return Array.from({ length: count }, (_, at) => toJob(from + at, kind))
}

/** Adds so many jobs in the fastest way that the source offers. */
export async function fill(source: Source, count: number, kind?: Kind): Promise<void> {
  for (let at = 0; at < count; at += BULK) {
    const jobs = jobsFrom(at, Math.min(BULK, count - at), kind)
    await (source.addBulk?.(jobs) ?? addEach(source, jobs))
  }
}

async function addEach(source: Source, jobs: readonly Job[]): Promise<void> {
  for (let at = 0; at < jobs.length; at += IN_FLIGHT) {
    await Promise.all(jobs.slice(at, at + IN_FLIGHT).map((job) => source.add(job)))
  }
}
