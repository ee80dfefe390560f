// The form of answers. The schemas are used for the description and checked by the tests. The routes write the answers
// themselves, because bodies are sent as the text that was stored.

import type { TProperties, TSchema } from '@fastify/type-provider-typebox'
import { Type } from '@fastify/type-provider-typebox'
import { undecoded } from './undecoded.ts'

/** Answers by status, each with its description. */
export type Answers = Readonly<Record<number, object>>

export const object = (properties: TProperties): TSchema =>
  Type.Object(properties, { additionalProperties: false })
export const orNull = (schema: TSchema): TSchema => Type.Union([schema, Type.Null()])

export const Instant: TSchema = Type.Integer({ description: 'Server time in Unix milliseconds.' })
export const Span: TSchema = Type.Integer({ minimum: 0, description: 'Milliseconds.' })
export const Count: TSchema = Type.Integer({ minimum: 0 })
export const Name: TSchema = Type.String()
const Id = Type.String({ description: 'Never changes during the life of the message.' })
const Cursor = Type.String({
  description: 'An opaque position: reading after it gives the items that follow.',
})
export const Token: TSchema = Type.Integer({
  minimum: 1,
  description: 'Proves the ownership of a lease; greater than every earlier token.',
})

const head = {
  id: Id,
  cursor: orNull(Cursor),
  createdAtMs: Instant,
  ageMs: Span,
  expiresAtMs: orNull(Instant),
  claims: Count,
  claimToken: orNull(Token),
}
const Message = object({
  ...head,
  body: Type.Unknown({ description: 'Any JSON, exactly as it was sent.' }),
})
const Undecodable = object({ ...head, ...undecoded })
const AnyMessage = Type.Union([Message, Undecodable])
const Page = object({
  messages: Type.Array(Message),
  undecodable: Type.Array(Undecodable, {
    description: 'The messages of the page whose bodies are not JSON.',
  }),
  next: Cursor,
  more: Type.Boolean({ description: 'Whether more may follow this page already.' }),
  gap: Type.Boolean({ description: 'Whether retention removed unread messages before this page.' }),
  reset: Type.Boolean({
    description: 'Whether the cursor was from an earlier life of the feed, or ahead of it.',
  }),
})
const Appended = object({
  messages: Type.Array(object({ id: Id, cursor: orNull(Cursor), duplicate: Type.Boolean() })),
})
const Claim = object({
  token: Token,
  leaseMs: Span,
  expiresAtMs: Instant,
  messages: Type.Array(Message),
})
export const Extended: TSchema = object({ token: Token, leaseMs: Span, expiresAtMs: Instant })
const Subscriber = object({ name: Name, cursor: Cursor })
const Inspection = object({
  name: Name,
  total: Count,
  free: Count,
  claimed: Count,
  delayed: Count,
  bytes: Count,
  deadLetters: Count,
  claims: Count,
  subscribers: Count,
  furthestBehind: Type.Array(object({ name: Name, cursor: Cursor, protected: Type.Boolean() })),
  oldest: orNull(AnyMessage),
  newest: orNull(AnyMessage),
  end: Cursor,
})
/** Of messages, and of jobs. */
const REASONS =
  'absent unclaimed held claimed lost retried cancelled acked ready scheduled stopping dead done newer'.split(
    ' ',
  )
const PROBLEM = {
  type: Type.String(),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.String(),
  code: Type.String(),
  argument: Type.Optional(Type.String()),
  reason: Type.Optional(Type.String({ enum: REASONS })),
  retryAfterMs: Type.Optional(Span),
}

export const json = (description: string, schema: TSchema, type = 'application/json'): object => ({
  description,
  content: { [type]: { schema } },
})
export const nothing = (description: string): object => ({ description, type: 'null' })

export const appended: Answers = {
  200: json('All of them were appended before, by their idempotency keys.', Appended),
  201: json('Appended, in this order.', Appended),
}
export const page: Answers = { 200: json('A page; empty if nothing was appended within `wait`.', Page) }
export const message: Answers = { 200: json('The message.', AnyMessage) }
export const removed: Answers = { 204: nothing('Removed.') }
export const stream: Answers = {
  200: json('Events: message, undecodable, gap, reset.', Type.String(), 'text/event-stream'),
}
export const claimed: Answers = {
  201: {
    ...json('A claim.', Claim),
    headers: { Location: { type: 'string', description: 'The URL of the claim.' } },
  },
  204: nothing('There are no free messages.'),
}
export const foundClaim: Answers = { 200: json('The present state of the claim.', Claim) }
export const extended: Answers = { 200: json('Extended.', Extended) }
export const released: Answers = { 204: nothing('Released: its messages are free again.') }
export const acked: Answers = { 204: nothing('Acked: removed.') }
export const subscribed: Answers = {
  200: json('It existed already, and keeps its position.', Subscriber),
  201: json('Made.', Subscriber),
}
export const committed: Answers = { 200: json('The present position of the subscriber.', Subscriber) }
export const forgotten: Answers = { 204: nothing('Forgotten.') }
export const inspection: Answers = { 200: json('The feed at one instant.', Inspection) }
export const cleared: Answers = { 204: nothing('The feed does not exist any more.') }

const PROBLEMS: Answers = {
  400: problem('An argument is invalid; `argument` names it.'),
  403: problem('The request comes from a page of another origin.'),
  404: problem('It does not exist.'),
  409: problem('Rejected; `reason` says why.'),
  410: problem('The lease has ended, or never existed.'),
  413: problem('The body is too large.'),
  415: problem('The body is not application/json.'),
  503: problem('The store or the service is temporarily unable to answer; see Retry-After.'),
}

/** The answers of a route: its own, the problems it names, and those of every route. */
export function answers(own: Answers, ...statuses: number[]): Answers {
  const problems = [400, 403, ...statuses, 503].map((status) => [status, PROBLEMS[status] ?? {}] as const)
  return { ...own, ...Object.fromEntries(problems) }
}

/** The problems of a body. */
export const BODY: readonly number[] = [413, 415]

/** A problem, with members in addition to those that every problem may have. */
export function problem(description: string, members: TProperties = {}): object {
  return json(description, object({ ...PROBLEM, ...members }), 'application/problem+json')
}
