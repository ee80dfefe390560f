// Looking jobs up by their ids.

import { find } from '../../generated/queue.ts'
import { type FoundJob, type LogLine, toJob } from './job.ts'
import type { Source } from '../source/source.ts'

export interface FoundPage {
  readonly jobs: readonly FoundJob[]
  /** Of the ids those that were not looked at. */
  readonly left: readonly string[]
}

/** Of the first of the ids: null in the places of those that are not known. */
export interface FoundSome {
  readonly jobs: readonly (FoundJob | null)[]
  /** Of all of these. */
  readonly bytes: number
}

/** Those of which one answer tells: one at least. */
export async function findSome(source: Source, wanted: readonly string[]): Promise<FoundSome> {
  const { unit, codec } = source
  const { looked, jobs, log } = await unit.run(find, { codec: codec.name, wanted: [...wanted] })
  const lines = jobs.map((): LogLine[] => [])
  const found = new Map<string, FoundJob>()
  let bytes = 0
  for (const { at, atMs, line } of log) {
    lines[at]?.push({ atMs, line })
    bytes += line.length
  }
  for (const [at, told] of jobs.entries()) {
    const job = { ...toJob(told, source), log: lines[at] ?? [] }
    found.set(job.id, job).set(String(told.number), job)
    bytes += told.bytes + told.progress.length + (told.result?.length ?? 0)
  }
  return { jobs: wanted.slice(0, looked).map((id) => found.get(id) ?? null), bytes }
}
