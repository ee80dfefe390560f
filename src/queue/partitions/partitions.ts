// Finds single jobs in partitions. Ids that the queue assigns name the partition. A job's own id is looked up in the
// partition of a job without a group first, and then in all others.

import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { partitionOf } from '../../runtime/partitions/partition-hash.ts'
import { checkText } from '../../runtime/values/arguments.ts'
import { placeOf, type QueueSource, toAddress } from '../source/source.ts'

interface Wanted {
  readonly at: number
  /** The id of the job within the partition. */
  readonly own: string
  readonly home: number
  /** False if the job may be in another partition. */
  readonly surely: boolean
}

/** Asks one partition about those ids that it may have. */
export type Ask<Part, Answer> = (part: Part, own: string[]) => Promise<Answer[]>

/** Null for a job's own id. Throws InvalidArgumentError. */
export function placeId(
  id: string,
  count: number,
  argument: string,
): { partition: number; number: string } | null {
  const place = placeOf(id)
  if (place === null || place.partition < count) return place
  throw new InvalidArgumentError(argument, `must not name partition ${place.partition} of ${count}`)
}

/** The answer of `call` for each id, in order; `absent` if no partition has it. Throws InvalidArgumentError. */
export async function askEach<Part, Answer>(
  parts: readonly Part[],
  check: () => Promise<void>,
  ids: readonly string[],
  call: Ask<Part, Answer>,
  absent: Answer,
): Promise<Answer[]> {
  const wanted = placeAll(ids, parts.length)
  const answers = new Map<number, Answer>()
  const ask = async (part: Part, places: readonly Wanted[]): Promise<void> => {
    if (places.length === 0) return
    const own = places.map((place) => place.own)
    for (const [at, answer] of (await call(part, own)).entries()) {
      if (answer !== absent) answers.set((places[at] as Wanted).at, answer)
    }
  }
  const askAll = (isWanted: (place: Wanted, partition: number) => boolean): Promise<void[]> =>
    Promise.all(
      parts.map((part, partition) =>
        ask(
          part,
          wanted.filter((place) => isWanted(place, partition)),
        ),
      ),
    )
  await askAll(({ home }, partition) => home === partition)
  const missing = new Set(wanted.filter(({ at, surely }) => !surely && !answers.has(at)))
  await askAll((place, partition) => place.home !== partition && missing.has(place))
  // The jobs may be in partitions that this process does not know of.
  if (answers.size < ids.length) await check()
  return ids.map((_, at) => answers.get(at) ?? absent)
}

function placeAll(ids: readonly string[], count: number): Wanted[] {
  if (!Array.isArray(ids) || ids.length === 0 || ids.length > 1000) {
    throw new InvalidArgumentError('ids', 'must be a list of 1 to 1000 ids')
  }
  return ids.map((id: string, at) => {
    const place = placeId(checkText('ids', id, 512), count, 'ids')
    if (place === null) return { at, own: id, home: partitionOf(id, count, 'ids'), surely: false }
    return { at, own: place.number, home: place.partition, surely: true }
  })
}

/** The page after the cursor `after`; pages go through one partition after the other. Throws InvalidArgumentError. */
export async function pageThrough<Part, Page extends { readonly next: string | null }>(
  parts: readonly Part[],
  check: () => Promise<void>,
  after: string | undefined,
  look: (part: Part, own: { after?: string }) => Promise<Page>,
  isEmpty: (page: Page) => boolean,
): Promise<Page> {
  const [page] = await Promise.all([getPage(parts, readCursor(after, parts.length), look, isEmpty), check()])
  return page
}

async function getPage<Part, Page extends { readonly next: string | null }>(
  parts: readonly Part[],
  from: { partition: number; own: { after?: string } },
  look: (part: Part, own: { after?: string }) => Promise<Page>,
  isEmpty: (page: Page) => boolean,
): Promise<Page> {
  let { partition, own } = from
  for (;;) {
    const page = await look(parts[partition] as Part, own)
    if (page.next !== null) return { ...page, next: `${partition}-${page.next}` }
    partition += 1
    if (partition === parts.length) return page
    if (!isEmpty(page)) return { ...page, next: `${partition}-0` }
    own = {}
  }
}

function readCursor(
  after: string | undefined,
  count: number,
): { partition: number; own: { after?: string } } {
  if (after === undefined) return { partition: 0, own: {} }
  const [, partition, own] = /^(0|[1-9]\d?)-(\d.*)$/.exec(String(after)) ?? []
  if (own === undefined || Number(partition) >= count) {
    throw new InvalidArgumentError('after', 'must be the next of a page')
  }
  return { partition: Number(partition), own: { after: own } }
}

// Dependencies of jobs in partitions. Another partition of the same queue is treated like another queue: questions
// and the answers in its outbox use the address of the partition.

type Queue = Pick<QueueSource, 'name' | 'partitions'>

/** The partition of the job with this id of its own; null if there is none. */
export type LocateOwn = (id: string) => number | null

/** The ids of dependencies in the queue itself. `isLocal`: dependencies without the name of a queue are in it. */
export function idsOfQueue(dependencies: string, { name }: Queue, isLocal = true): string[] {
  return refsOf(dependencies).flatMap((ref) => idIn(ref, name, isLocal) ?? [])
}

/**
 * The dependencies with the addresses of their partitions, without those in no partition. Throws
 * InvalidArgumentError.
 */
export function withAddresses(dependencies: string, queue: Queue, locate: LocateOwn, isLocal = true): string {
  const addressed = refsOf(dependencies).flatMap((ref) => {
    const id = idIn(ref, queue.name, isLocal)
    if (id === null) return [ref]
    const partition = placeId(id, queue.partitions, 'dependsOn')?.partition ?? locate(id)
    return partition === null ? [] : [refTo(id, queue, partition)]
  })
  return [...new Set(addressed)].join('\0')
}

/** The dependencies relative to the queue at this address: its own are without address. */
export function asCalledAt(address: string, dependencies: string): string {
  const here = `q${address}\x01`
  const called = refsOf(dependencies).map((ref) =>
    ref.startsWith(here) ? `l${ref.slice(here.length)}` : ref,
  )
  return called.join('\0')
}

/** Every form in which a job may store the dependencies: own ids in every partition. Throws InvalidArgumentError. */
export function everyName(dependencies: string, queue: Queue): string {
  const names = refsOf(dependencies).flatMap((ref) => {
    const id = idIn(ref, queue.name, true)
    if (id === null) return [ref]
    const place = placeId(id, queue.partitions, 'dependsOn')
    if (place !== null) return [refTo(id, queue, place.partition)]
    return Array.from({ length: queue.partitions }, (_, partition) => refTo(id, queue, partition))
  })
  return names.join('\0')
}

/** A `LocateOwn` that rejects ids of their own, which cannot be located. */
export function refuseOwn(id: string): never {
  throw new InvalidArgumentError(
    'next.dependsOn',
    `must be ids that the queue assigned, which '${id}' is not`,
  )
}

function refsOf(dependencies: string): string[] {
  return dependencies.split('\0').filter((ref) => ref !== '')
}

/** Null for a dependency of another queue. */
function idIn(ref: string, name: string, isLocal: boolean): string | null {
  if (ref.startsWith('l')) return isLocal ? ref.slice(1) : null
  const [queue = '', id = ''] = ref.slice(1).split('\x01')
  return queue === name ? id : null
}

function refTo(id: string, { name, partitions: count }: Queue, number: number): string {
  const own = placeId(id, count, 'dependsOn')?.number ?? id
  return `q${toAddress({ name, partition: { number, count } })}\x01${own}`
}
