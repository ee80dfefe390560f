// The form of the answers of locks, elections, semaphores, rate limits and once.

import { Type } from '@fastify/type-provider-typebox'
import {
  type Answers,
  Count,
  Extended,
  Instant,
  json,
  Name,
  nothing,
  object,
  orNull,
  problem,
  Span,
  Token,
} from '../api/answers.ts'

const newest = orNull(Token)
const Holder = object({ token: Token, expiresAtMs: Instant, holder: Type.String() })
const LockPicture = object({
  name: Name,
  mode: Type.String({ enum: ['free', 'held', 'shared'] }),
  token: newest,
  holders: Type.Array(Holder),
  waiting: Count,
  line: Type.Array(object({ holder: Type.String(), shared: Type.Boolean() })),
})
const ElectionPicture = object({ name: Name, leader: orNull(Holder) })

const Permit = object({ token: Token, expiresAtMs: Instant, weight: Count, holder: Type.String() })
const SemaphorePicture = object({
  name: Name,
  limit: Count,
  resized: Type.Boolean({ description: 'Whether the limit was set for all.' }),
  used: Count,
  token: newest,
  permits: Type.Array(Permit),
  waiting: Count,
  line: Type.Array(object({ weight: Count, holder: Type.String() })),
})
const LimitState = object({
  algorithm: Type.String({ enum: ['gcra', 'sliding-window', 'concurrency'] }),
  limit: Count,
  windowMs: Span,
  remaining: Count,
  resetMs: Span,
})
const judged = {
  allowed: Type.Boolean(),
  remaining: Count,
  resetAtMs: Instant,
  limits: Type.Record(Type.String(), LimitState),
}
const denied = {
  ...judged,
  deniedBy: Type.String({ description: 'The limit that requires the longest wait.' }),
}
const Taken = object({
  ...judged,
  token: Type.Integer({ minimum: 0, description: 'Proves the take; 0 for a check.' }),
})
const Refused = object({ ...denied, retryAfterMs: Span })
const SubjectPicture = object({
  subject: Type.String(),
  exists: Type.Boolean({ description: 'False if nothing has been taken for a while.' }),
  limits: Type.Record(Type.String(), LimitState),
  held: Type.Array(object({ limit: Type.String(), token: Token, expiresAtMs: Instant })),
})
const Result = Type.Unknown({ description: 'Any JSON, exactly as it was sent.' })
const KeyPicture = object({
  key: Name,
  state: Type.String({ enum: ['free', 'running', 'lapsed', 'finished'] }),
  token: newest,
  fingerprint: orNull(Type.String()),
  expiresAtMs: orNull(Instant),
  keptUntilMs: orNull(Instant),
  bytes: Count,
})

const place = { Location: { type: 'string', description: 'The URL of the lease.' } }

/** `what`: the leased object, in words. */
export const leased = (what: string): Answers => ({
  201: { ...json(`${what} is leased.`, Extended), headers: place },
  409: problem(`${what} was not free in time: \`retryAfterMs\` estimates when it may be.`),
})
export const extended: Answers = { 200: json('Extended.', Extended) }
export const released: Answers = { 204: nothing('Given back.') }
export const cleared: Answers = { 204: nothing('Deleted.') }
export const lock: Answers = { 200: json('The lock at one instant.', LockPicture) }
export const election: Answers = { 200: json('The leader; null if there is none.', ElectionPicture) }

export const semaphore: Answers = { 200: json('The semaphore at one instant.', SemaphorePicture) }
export const resized: Answers = { 204: nothing('Set, for all clients.') }

const text = (description: string): object => ({ type: 'string', description })
const limitHeaders = {
  RateLimit: text('The remaining units of each limit, and when it is full again.'),
  'RateLimit-Policy': text('The limits.'),
}
export const taken: Answers = {
  200: { ...json('Taken from every limit.', Taken), headers: limitHeaders },
  429: {
    ...problem('Denied: nothing was taken from any limit.', denied),
    headers: { ...limitHeaders, 'Retry-After': text('In seconds, when the same take would be allowed.') },
  },
}
export const checked: Answers = {
  200: {
    ...json('The answer that a take would get now.', Type.Union([Taken, Refused])),
    headers: limitHeaders,
  },
}
export const refunded: Answers = {
  200: json(
    'Whether anything was given back; false if it had been before.',
    object({ refunded: Type.Boolean() }),
  ),
}
export const subject: Answers = { 200: json('The subject at one instant.', SubjectPicture) }

export const begun: Answers = {
  200: json('Done before: its result.', object({ token: Token, result: Result })),
  201: { ...json('Begun: do the work, then put its result.', Extended), headers: place },
  409: problem(
    'Another attempt is in progress: `retryAfterMs` says when its lease ends. Or the work was done, but its result could not be stored.',
  ),
  422: problem('The key was used with another fingerprint before.'),
}
export const completed: Answers = {
  204: nothing('Stored: from now on requests with the key get this result.'),
}
export const key: Answers = { 200: json('The key at one instant.', KeyPicture) }
export const result: Answers = {
  200: json('The result.', object({ token: Token, keptUntilMs: Instant, result: Result })),
}
