// Jobs by their tags, and those that somebody follows.

import {
  searchTagged as searchTaggedJobs,
  tag as tagJob,
  tags as tagsOf,
  track as trackJobs,
} from '../generated/queue.ts'
import { checkText } from '../runtime/arguments.ts'
import { InvalidArgumentError } from '../runtime/errors.ts'
import { type Job, toJob } from './job.ts'
import { checkTags } from './job-options.ts'
import type { Source } from './source.ts'

export interface TagCount {
  readonly tag: string
  /** How many jobs have it. */
  readonly count: number
}

export interface TaggedTerms {
  readonly after: string
  readonly limit: number
  readonly name: string
  readonly state: string
}

// A call looks at so many tags, with two commands each.
const STEP = 500

/** Empty: those that somebody follows. */
export async function searchTagged(
  source: Source,
  tag: string,
  terms: TaggedTerms,
): Promise<{ jobs: Job[]; next: string | null }> {
  const { unit, codec } = source
  const { jobs, next } = await unit.run(searchTaggedJobs, { codec: codec.name, tag, ...terms })
  return { jobs: jobs.map((job) => toJob(job, source)), next: next === '0' ? null : next }
}

/** The most common first, of one source or of all partitions. */
export async function countTags(sources: readonly Source[], limit: number): Promise<TagCount[]> {
  const [first, ...others] = sources as [Source, ...Source[]]
  if (others.length === 0) return countTagsOf(first, limit)
  // What is rare in each may be common in all.
  const all = await Promise.all(sources.map((source) => countTagsOf(source, Infinity)))
  const counts = new Map<string, number>()
  for (const { tag, count } of all.flat()) counts.set(tag, (counts.get(tag) ?? 0) + count)
  return mostCommon(
    [...counts].map(([tag, count]) => ({ tag, count })),
    limit,
  )
}

/** In steps, so that no call keeps others waiting. */
async function countTagsOf({ unit }: Source, limit: number): Promise<TagCount[]> {
  let [most, after]: [TagCount[], string] = [[], '']
  do {
    const { tags, next } = await unit.run(tagsOf, { after, limit: STEP })
    const all = [...most, ...tags.map(({ tag, count }) => ({ tag, count }))]
    most = mostCommon(all, limit)
    after = next
  } while (after !== '')
  return most
}

function mostCommon(counts: readonly TagCount[], limit: number): TagCount[] {
  return counts.toSorted((one, other) => other.count - one.count).slice(0, limit)
}

/** Null where there is no such job. Throws InvalidArgumentError. */
export async function changeTags(
  { unit }: Source,
  id: string,
  tags: readonly string[],
  adds: boolean,
): Promise<string[] | null> {
  const answer = await unit.run(tagJob, { id: checkText('id', id, 512), adds, tags: checkTags(tags) })
  if (answer.status === 'full') throw new InvalidArgumentError('tags', 'would be more than 20 for one job')
  if (answer.status === 'absent') return null
  return answer.tags === '' ? [] : answer.tags.split('\0')
}

/** False where there is no such job. Throws InvalidArgumentError. */
export async function track({ unit }: Source, id: string, follows: boolean): Promise<boolean> {
  const { outcomes } = await unit.run(trackJobs, { follows, wanted: [checkText('id', id, 512)] })
  return outcomes[0] !== 'absent'
}
