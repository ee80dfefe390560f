// Finds jobs by their tags, and tracked jobs.

import {
  searchTagged as searchTaggedJobs,
  tag as tagJob,
  tags as tagsOf,
  track as trackJobs,
} from '../../generated/queue.ts'
import { checkText } from '../../runtime/values/arguments.ts'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { type Job, toJob } from './job.ts'
import { checkTags } from './job-options.ts'
import type { QueueSource } from '../source/source.ts'

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

// Tags a call, with two commands each.
const STEP = 500

/** Finds the jobs with a tag; an empty tag finds the tracked jobs. */
export async function searchTagged(
  source: QueueSource,
  tag: string,
  terms: TaggedTerms,
): Promise<{ jobs: Job[]; next: string | null }> {
  const { unit, codec } = source
  const { jobs, next } = await unit.run(searchTaggedJobs, { codec: codec.name, tag, ...terms })
  return { jobs: jobs.map((job) => toJob(job, source)), next: next === '0' ? null : next }
}

/**
 * The most common tags of all sources, the most common first. A tag that is rare in each partition may be common in
 * all. So the partitions are read in parallel in the order of tags, and only the `limit` best of what all have
 * reached are kept.
 */
export async function countTags(sources: readonly QueueSource[], limit: number): Promise<TagCount[]> {
  const readers = sources.map((source) => new TagReader(source))
  let most: TagCount[] = []
  for (;;) {
    await Promise.all(readers.map((reader) => reader.fill()))
    const end = readers.flatMap(({ known }) => known ?? []).toSorted(byBytes)[0]
    const counts = new Map<string, number>()
    for (const { tag, count } of readers.flatMap((reader) => reader.upTo(end))) {
      counts.set(tag, (counts.get(tag) ?? 0) + count)
    }
    most = mostCommon([...most, ...[...counts].map(([tag, count]) => ({ tag, count }))], limit)
    if (end === undefined) return most
  }
}

/** Reads the tags of one source in byte order, in steps, so that no call blocks Redis for long. */
class TagReader {
  readonly #source: QueueSource
  #tags: TagCount[] = []
  #after = ''
  #isOver = false

  constructor(source: QueueSource) {
    this.#source = source
  }

  /** The last tag up to which all were read; undefined at the end. */
  get known(): string | undefined {
    return this.#isOver ? undefined : this.#after
  }

  async fill(): Promise<void> {
    if (this.#isOver || this.#tags.length > 0) return
    const { tags, next } = await this.#source.unit.run(tagsOf, { after: this.#after, limit: STEP })
    this.#tags = tags.map(({ tag, count }) => ({ tag, count }))
    this.#after = next
    this.#isOver = next === ''
  }

  /** Removes and returns the tags up to `end`. */
  upTo(end: string | undefined): TagCount[] {
    const later = end === undefined ? -1 : this.#tags.findIndex(({ tag }) => byBytes(tag, end) > 0)
    return this.#tags.splice(0, later === -1 ? this.#tags.length : later)
  }
}

function byBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}

function mostCommon(counts: readonly TagCount[], limit: number): TagCount[] {
  return counts.toSorted((one, other) => other.count - one.count).slice(0, limit)
}

/** The tags of the job afterwards; null when there is no such job. Throws InvalidArgumentError. */
export async function changeTags(
  { unit }: QueueSource,
  id: string,
  tags: readonly string[],
  adds: boolean,
): Promise<string[] | null> {
  const answer = await unit.run(tagJob, { id: checkText('id', id, 512), adds, tags: checkTags(tags) })
  if (answer.status === 'full') throw new InvalidArgumentError('tags', 'would be more than 20 for one job')
  if (answer.status === 'absent') return null
  return answer.tags === '' ? [] : answer.tags.split('\0')
}

/** False when there is no such job. Throws InvalidArgumentError. */
export async function track({ unit }: QueueSource, id: string, follows: boolean): Promise<boolean> {
  const { outcomes } = await unit.run(trackJobs, { follows, wanted: [checkText('id', id, 512)] })
  return outcomes[0] !== 'absent'
}
