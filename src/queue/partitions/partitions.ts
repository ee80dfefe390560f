// Asking partitions after single jobs. The ids that the queue gives tell the partition; a job's own id is looked for where
// it is when the job has no group, and then everywhere.

import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { partitionOf } from '../../runtime/partitions/partition-hash.ts'
import { checkText } from '../../runtime/values/arguments.ts'
import { placeOf, type QueueSource, toAddress } from '../source/source.ts'

interface Wanted {
  readonly at: number
  /** What its partition calls the job. */
  readonly own: string
  readonly home: number
  /** False where the job may be in another partition. */
  readonly surely: boolean
}

/** One partition of `Part`s is asked after those of the ids that it may have. */
export type Ask<Part, Told> = (part: Part, own: string[]) => Promise<Told[]>

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

/** What one call says of each of the ids, in their order; `absent` where no partition knows it. Throws InvalidArgumentError. */
export async function askEach<Part, Told>(
  parts: readonly Part[],
  check: () => Promise<void>,
  ids: readonly string[],
  call: Ask<Part, Told>,
  absent: Told,
): Promise<Told[]> {
  const wanted = placeAll(ids, parts.length)
  const told = new Map<number, Told>()
  const ask = async (part: Part, places: readonly Wanted[]): Promise<void> => {
    if (places.length === 0) return
    const own = places.map((place) => place.own)
    for (const [at, answer] of (await call(part, own)).entries()) {
      if (answer !== absent) told.set((places[at] as Wanted).at, answer)
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
  const missing = new Set(wanted.filter(({ at, surely }) => !surely && !told.has(at)))
  await askAll((place, partition) => place.home !== partition && missing.has(place))
  // They may be in partitions that nobody thinks of here.
  if (told.size < ids.length) await check()
  return ids.map((_, at) => told.get(at) ?? absent)
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

/** A page that begins where `after` says, one partition after the other. Throws InvalidArgumentError. */
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

// Dependencies of jobs in partitions. Another partition of the same queue is like another queue: what is there is asked after, and
// told by the outbox, under the address of its partition.

type Queue = Pick<QueueSource, 'name' | 'partitions'>

/** In which partition the job is that has this id of its own; null: in none. */
export type LocateOwn = (id: string) => number | null

/** The ids of dependencies of the queue itself; `isLocal`: dependencies without the name of a queue are. */
export function idsOfQueue(dependencies: string, { name }: Queue, isLocal = true): string[] {
  return refsOf(dependencies).flatMap((ref) => idIn(ref, name, isLocal) ?? [])
}

/** The dependencies with the addresses of their partitions; those that are in none are left out. Throws InvalidArgumentError. */
export function withAddresses(dependencies: string, queue: Queue, locate: LocateOwn, isLocal = true): string {
  const addressed = refsOf(dependencies).flatMap((ref) => {
    const id = idIn(ref, queue.name, isLocal)
    if (id === null) return [ref]
    const partition = placeId(id, queue.partitions, 'dependsOn')?.partition ?? locate(id)
    return partition === null ? [] : [refTo(id, queue, partition)]
  })
  return [...new Set(addressed)].join('\0')
}

/** The dependencies as the queue at this address calls them: its own have no need of one. */
export function asCalledAt(address: string, dependencies: string): string {
  const here = `q${address}\x01`
  const called = refsOf(dependencies).map((ref) =>
    ref.startsWith(here) ? `l${ref.slice(here.length)}` : ref,
  )
  return called.join('\0')
}

/** As a job may have named them, wherever those with ids of their own are. Throws InvalidArgumentError. */
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

/** For whoever cannot look where it is. */
export function refuseOwn(id: string): never {
  throw new InvalidArgumentError('next.dependsOn', `must be ids that the queue gave, and '${id}' is none`)
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
