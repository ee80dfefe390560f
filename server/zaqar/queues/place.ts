import type { Feed, Perilune } from 'perilune'
import { storedJson, storedJsonBytes } from '../../json/stored.ts'
import type { Tenant } from '../requests/headers.ts'

/** One queue of one project, and its caller. */
export interface QueuePlace {
  readonly tenant: Tenant
  readonly queue: string
}

/** Unique among the queues of all projects: the name of a queue has no slash. */
export function feedName({ tenant, queue }: QueuePlace): string {
  return `${tenant.scope}/${queue}`
}

/** The queue with this name, without a caller. */
export function placeOf(name: string): QueuePlace {
  const slash = name.lastIndexOf('/')
  return { tenant: { scope: name.slice(0, slash), origin: '' }, queue: name.slice(slash + 1) }
}

/**
 * Another queue of the same project. It has no caller, because the last client would not see the messages without
 * `echo`.
 */
export function besides({ tenant }: QueuePlace, queue: string): QueuePlace {
  return { tenant: { ...tenant, origin: '' }, queue }
}

/** For pages: bodies as they are stored. */
export function openFeedBytes(perilune: Perilune, place: QueuePlace): Feed<Buffer> {
  return perilune.feed(feedName(place), { codec: storedJsonBytes, origin: place.tenant.origin })
}

export function openFeed(perilune: Perilune, place: QueuePlace): Feed<string> {
  return perilune.feed(feedName(place), { codec: storedJson, origin: place.tenant.origin })
}
