// Names and identifiers in paths and queries.

import { type TObject, type TString, Type } from '@fastify/type-provider-typebox'
import type { Limits } from '../settings/limits.ts'
import { badRequest } from '../../http/answers/problems.ts'

const QUEUE_NAME = '^[A-Za-z0-9_.-]{1,64}$'
const QueueName = Type.String({ pattern: QUEUE_NAME })

export const QueuePath: TObject<{ queue: TString }> = Type.Object({ queue: QueueName })
export const MessagePath: TObject<{ queue: TString; message: TString }> = Type.Object({
  queue: QueueName,
  message: Type.String(),
})
export const ClaimPath: TObject<{ queue: TString; claim: TString }> = Type.Object({
  queue: QueueName,
  claim: Type.String(),
})
export const SubscriptionPath: TObject<{ queue: TString; subscription: TString }> = Type.Object({
  queue: QueueName,
  subscription: Type.String(),
})

const queueName = new RegExp(QUEUE_NAME)

export function isQueueName(value: unknown): value is string {
  return typeof value === 'string' && queueName.test(value)
}

/** The token of a claim id; null if the id is invalid. */
export function tokenOf(claimId: string): number | null {
  const token = /^[1-9]\d{0,15}$/.test(claimId) ? Number(claimId) : 0
  return Number.isSafeInteger(token) && token > 0 ? token : null
}

export function checkIds(ids: readonly string[], { maxMessagesPerPage }: Limits): readonly string[] {
  if (ids.length > maxMessagesPerPage)
    throw badRequest(`ids must name at most ${maxMessagesPerPage} messages.`)
  return ids
}

/**
 * A position between two messages of a feed: its life, and the position in it; twice if a page ended between two lives.
 */
const PLACE = /^\d{1,16}-\d{1,16}(?:-\d{1,16}-\d{1,16})?$/

/** `end` would be another position at each call: a marker must come from a page. */
export function checkMarker(marker: string): string {
  if (!PLACE.test(marker)) throw badRequest('marker must come from a page.')
  return marker
}
