// Parents of jobs in partitions. Another partition of the same queue is like another queue: what is there is asked after, and
// told by the outbox, under the address of its partition.

import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { toAddress } from '../source/ids.ts'
import { placeId } from './calls.ts'
import type { Source } from '../source/source.ts'

type Queue = Pick<Source, 'name' | 'partitions'>

/** In which partition the job is that has this id of its own; null: in none. */
export type LocateOwn = (id: string) => number | null

/** The ids of parents of the queue itself; `isLocal`: parents without the name of a queue are. */
export function idsOfQueue(parents: string, { name }: Queue, isLocal = true): string[] {
  return refsOf(parents).flatMap((ref) => idIn(ref, name, isLocal) ?? [])
}

/** The parents with the addresses of their partitions; those that are in none are left out. Throws InvalidArgumentError. */
export function withAddresses(parents: string, queue: Queue, locate: LocateOwn, isLocal = true): string {
  const addressed = refsOf(parents).flatMap((ref) => {
    const id = idIn(ref, queue.name, isLocal)
    if (id === null) return [ref]
    const partition = placeId(id, queue.partitions, 'parents')?.partition ?? locate(id)
    return partition === null ? [] : [refTo(id, queue, partition)]
  })
  return [...new Set(addressed)].join('\0')
}

/** The parents as the queue at this address calls them: its own have no need of one. */
export function asCalledAt(address: string, parents: string): string {
  const here = `q${address}\x01`
  const called = refsOf(parents).map((ref) => (ref.startsWith(here) ? `l${ref.slice(here.length)}` : ref))
  return called.join('\0')
}

/** As a job may have named them, wherever those with ids of their own are. Throws InvalidArgumentError. */
export function everyName(parents: string, queue: Queue): string {
  const names = refsOf(parents).flatMap((ref) => {
    const id = idIn(ref, queue.name, true)
    if (id === null) return [ref]
    const place = placeId(id, queue.partitions, 'parents')
    if (place !== null) return [refTo(id, queue, place.partition)]
    return Array.from({ length: queue.partitions }, (_, partition) => refTo(id, queue, partition))
  })
  return names.join('\0')
}

/** For whoever cannot look where it is. */
export function refuseOwn(id: string): never {
  throw new InvalidArgumentError('next.parents', `must be ids that the queue gave, and '${id}' is none`)
}

function refsOf(parents: string): string[] {
  return parents.split('\0').filter((ref) => ref !== '')
}

/** Null for a parent of another queue. */
function idIn(ref: string, name: string, isLocal: boolean): string | null {
  if (ref.startsWith('l')) return isLocal ? ref.slice(1) : null
  const [queue = '', id = ''] = ref.slice(1).split('\x01')
  return queue === name ? id : null
}

function refTo(id: string, { name, partitions: count }: Queue, number: number): string {
  const own = placeId(id, count, 'parents')?.number ?? id
  return `q${toAddress({ name, partition: { number, count } })}\x01${own}`
}
