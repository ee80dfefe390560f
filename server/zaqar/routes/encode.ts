// Messages in the form of answers. Their bodies are JSON text already and are inserted unchanged; names and ids consist
// of characters that JSON and URLs need not escape.

import type { Claim, FeedInspection, Message, UndecodableMessage } from 'perilune'
import { joined, listed } from '../../http/answers/joined.ts'
import type { AnswerPieces } from '../../http/answers/pieces.ts'

export const queuePath = (queue: string): string => `/v2/queues/${queue}`

export const messagePath = (queue: string, id: string): string => `${queuePath(queue)}/messages/${id}`

export const claimPath = (queue: string, token: number): string => `${queuePath(queue)}/claims/${token}`

export function encodeMessage(queue: string, message: Message<string>): string {
  return `{${headOf(queue, message)}${message.body}}`
}

/** Everything before its body. */
function headOf(queue: string, message: Message<unknown>): string {
  return `"id":"${message.id}","href":"${hrefOf(queue, message)}",${beforeBody(message, lifetimeOf(message))}`
}

export function encodeMessages(queue: string, messages: readonly Message<string>[]): string {
  return `{"messages":${list(messages, (message) => encodeMessage(queue, message))}}`
}

/** `next`: path and query of the next page; null at the end. */
export function encodePage(
  queue: string,
  messages: readonly Message<Buffer>[],
  next: string | null,
): Buffer | AnswerPieces {
  const links = next === null ? [] : [{ rel: 'next', href: next }]
  const shown = listed(messages, (message) => [`{${headOf(queue, message)}`, message.body, '}'])
  return joined(['{"messages":', ...shown, `,"links":${JSON.stringify(links)}}`])
}

export function encodeTaken(messages: readonly Message<string>[]): string {
  const shown = list(
    messages,
    (message) =>
      `{"id":"${message.id}",${life(message, lifetimeOf(message))},"claim_id":null,"claim_count":${message.claims}}`,
  )
  return `{"messages":${shown}}`
}

/** `grace` in seconds, if it is known. */
export function encodeClaimed(queue: string, claim: Claim<string>, grace?: number): string {
  return `{"messages":${claimed(queue, claim, grace)}}`
}

export function encodeClaim(queue: string, claim: Claim<string>): string {
  const age = Math.max(0, Math.floor((claim.leaseMs - claim.remainingMs) / 1000))
  const ttl = Math.round(claim.leaseMs / 1000)
  const href = claimPath(queue, claim.token)
  return `{"age":${age},"ttl":${ttl},"href":"${href}","messages":${claimed(queue, claim)}}`
}

export function encodeStats(queue: string, picture: FeedInspection<string>): string {
  const { total, claimed: held, oldest, newest } = picture
  const ends =
    oldest === null || newest === null
      ? ''
      : `,"oldest":${encodeEnd(queue, oldest)},"newest":${encodeEnd(queue, newest)}`
  return `{"messages":{"claimed":${held},"free":${total - held},"total":${total}${ends}}}`
}

/** The body of a message that is not JSON is null. */
function encodeEnd(queue: string, found: Message<string> | UndecodableMessage): string {
  const message = 'body' in found ? found : { ...found, body: 'null' }
  const { claimToken, claims, createdAtMs } = message
  const created = `${new Date(createdAtMs).toISOString().slice(0, 19)}Z`
  const claimId = claimToken === null ? null : `"${claimToken}"`
  return `{"href":"${hrefOf(queue, message)}",${life(message, lifetimeOf(message))},"created":"${created}","claim_id":${claimId},"claim_count":${claims}}`
}

/** Clients read the id of the claim that holds a message from here. */
function hrefOf(queue: string, { id, claimToken }: Message<unknown>): string {
  return messagePath(queue, id) + (claimToken === null ? '' : `?claim_id=${claimToken}`)
}

function claimed(queue: string, claim: Claim<string>, grace?: number): string {
  return list(claim.messages, (message) => {
    const href = `${messagePath(queue, message.id)}?claim_id=${claim.token}`
    return `{"id":"${message.id}","href":"${href}",${life(message, claimedLifetimeOf(message, claim, grace))}}`
  })
}

function life(message: Message<string>, ttl: number): string {
  return `${beforeBody(message, ttl)}${message.body}`
}

function beforeBody(message: Message<unknown>, ttl: number): string {
  return `"ttl":${ttl},"age":${Math.floor(message.ageMs / 1000)},"body":`
}

// Ids are times, and each of many messages has a later one: their creation may seem to be so much later.
const CREATED_LATE_MS = 100

/** Whole seconds from its creation to its end. A message that a claim has extended has a fraction of a second more. */
function lifetimeOf({ expiresAtMs, createdAtMs }: Message<unknown>): number {
  return expiresAtMs === null ? 0 : Math.floor((expiresAtMs - createdAtMs + CREATED_LATE_MS) / 1000)
}

/**
 * A message that would have ended before its claim lives until the end of the grace after it; its ttl is then the sum
 * of the claim's ttl and grace. Others keep theirs.
 */
function claimedLifetimeOf(message: Message<string>, claim: Claim<string>, grace?: number): number {
  const { expiresAtMs, createdAtMs } = message
  if (expiresAtMs === null) return 0
  const behindMs = expiresAtMs - claim.expiresAtMs
  // Lives as posted are whole seconds from the creation, extended lives from the end of the claim.
  const looksProlonged = (expiresAtMs - createdAtMs) % 1000 !== 0 && behindMs >= 0 && behindMs % 1000 === 0
  const prolonged = grace === undefined ? looksProlonged : behindMs === grace * 1000
  return prolonged ? Math.round((claim.leaseMs + behindMs) / 1000) : lifetimeOf(message)
}

function list<Item>(items: readonly Item[], encode: (item: Item) => string): string {
  return `[${items.map(encode).join(',')}]`
}
