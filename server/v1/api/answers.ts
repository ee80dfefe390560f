// What answers look like. These schemas describe and are held by the tests; the routes write the answers
// themselves, because bodies go out as the text that came in.

import type { TProperties, TSchema } from '@fastify/type-provider-typebox'
import { Type } from '@fastify/type-provider-typebox'
import { undecoded } from './undecoded.ts'

/** Answers by status, each with its description. */
export type Answers = Readonly<Record<number, object>>

export const object = (properties: TProperties): TSchema =>
  Type.Object(properties, { additionalProperties: false })
export const orNull = (schema: TSchema): TSchema => Type.Union([schema, Type.Null()])

export const Instant: TSchema = Type.Integer({ description: 'Unix milliseconds of the server.' })
export const Span: TSchema = Type.Integer({ minimum: 0, description: 'Milliseconds.' })
export const Count: TSchema = Type.Integer({ minimum: 0 })
export const Name: TSchema = Type.String()
const Id = Type.String({ description: 'Stays the same for the whole life of the message.' })
const Cursor = Type.String({ description: 'An opaque position: reading after it gives what follows.' })
export const Token: TSchema = Type.Integer({
  minimum: 1,
  description: 'Proves a lease; greater than that of every earlier one.',
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
  body: Type.Unknown({ description: 'Any JSON, to the letter as it was sent.' }),
})
const Undecodable = object({ ...head, ...undecoded })
const AnyMessage = Type.Union([Message, Undecodable])
const Page = object({
  messages: Type.Array(Message),
  undecodable: Type.Array(Undecodable, { description: 'Those of the page whose bodies are no JSON.' }),
  next: Cursor,
  more: Type.Boolean({ description: 'Whether there may be more behind this page already.' }),
  gap: Type.Boolean({ description: 'Retention removed messages before this page that were not read.' }),
  reset: Type.Boolean({ description: 'The cursor was of an earlier life of the feed, or ahead of it.' }),
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
export const page: Answers = { 200: json('A page; an empty one when nothing came within `wait`.', Page) }
export const message: Answers = { 200: json('The message.', AnyMessage) }
export const removed: Answers = { 204: nothing('Removed.') }
export const stream: Answers = {
  200: json('Events: message, undecodable, gap, reset.', Type.String(), 'text/event-stream'),
}
export const claimed: Answers = {
  201: {
    ...json('A claim.', Claim),
    headers: { Location: { type: 'string', description: 'The place of the claim.' } },
  },
  204: nothing('Nothing is free.'),
}
export const foundClaim: Answers = { 200: json('The claim as it stands.', Claim) }
export const extended: Answers = { 200: json('Extended.', Extended) }
export const released: Answers = { 204: nothing('Released: its messages are free again.') }
export const acked: Answers = { 204: nothing('Acked: removed.') }
export const subscribed: Answers = {
  200: json('It was there already, and stands where it stood.', Subscriber),
  201: json('Made.', Subscriber),
}
export const committed: Answers = { 200: json('Where the subscriber stands now.', Subscriber) }
export const forgotten: Answers = { 204: nothing('Forgotten.') }
export const inspection: Answers = { 200: json('The feed at one instant.', Inspection) }
export const cleared: Answers = { 204: nothing('There is no such feed any more.') }

const PROBLEMS: Answers = {
  400: problem('An argument is wrong; `argument` names it.'),
  403: problem('A page of another origin asks.'),
  404: problem('There is no such thing.'),
  409: problem('Refused; `reason` says why.'),
  410: problem('The lease has ended, or never was.'),
  413: problem('The body is too large.'),
  415: problem('It is not application/json.'),
  503: problem('The store or the service cannot, for the moment; see Retry-After.'),
}

/** The answers of a route: its own, the problems it names, and those that every route has. */
export function answers(own: Answers, ...statuses: number[]): Answers {
  const problems = [400, 403, ...statuses, 503].map((status) => [status, PROBLEMS[status] ?? {}] as const)
  return { ...own, ...Object.fromEntries(problems) }
}

/** The problems of a body. */
export const BODY: readonly number[] = [413, 415]

/** A problem, with members beyond those that every problem may have. */
export function problem(description: string, members: TProperties = {}): object {
  return json(description, object({ ...PROBLEM, ...members }), 'application/problem+json')
}
