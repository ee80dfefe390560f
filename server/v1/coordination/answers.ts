// What the answers of locks, elections and the like look like, beside those of feeds.

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
  Token,
} from '../answers.ts'

const Holder = object({ token: Token, expiresAtMs: Instant, holder: Type.String() })
const LockPicture = object({
  name: Name,
  mode: Type.String({ enum: ['free', 'held', 'shared'] }),
  token: Type.Integer({ minimum: 0, description: 'The newest one; 0 when there was none, or long ago.' }),
  holders: Type.Array(Holder),
  waiting: Count,
  line: Type.Array(object({ holder: Type.String(), shared: Type.Boolean() })),
})
const ElectionPicture = object({ name: Name, leader: orNull(Holder) })

const place = { Location: { type: 'string', description: 'The place of the lease.' } }

/** `what`: in words, what is leased. */
export const lent = (what: string): Answers => ({
  201: { ...json(`${what} is leased.`, Extended), headers: place },
  409: problem(`${what} was not free in time: \`retryAfterMs\` tells when it may be.`),
})
export const extended: Answers = { 200: json('Extended.', Extended) }
export const released: Answers = { 204: nothing('Given back.') }
export const cleared: Answers = { 204: nothing('Nothing is known of it any more.') }
export const lock: Answers = { 200: json('The lock at one instant.', LockPicture) }
export const election: Answers = { 200: json('Who leads; null when nobody does.', ElectionPicture) }
