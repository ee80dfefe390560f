// Many completed jobs, with results that stay the text that was sent.

import { type TObject, type TOptional, type TUnknown, Type } from '@fastify/type-provider-typebox'
import type { JobLease, Queue, Settled } from 'perilune'
import { id, token } from './arguments.ts'
import { textsInJobs } from './to-the-letter.ts'

export const AckedJob: TObject<{ id: typeof id; token: typeof token; result: TOptional<TUnknown> }> =
  Type.Object(
    { id, token, result: Type.Optional(Type.Unknown({ description: 'Any JSON.' })) },
    { additionalProperties: false },
  )

/** One outcome each. `text`: the request as it was sent, whose member `name` has the list. */
export async function ackJobs(
  queue: Pick<Queue, 'byToken'>,
  given: readonly JobLease[],
  text: string,
  name: string,
): Promise<object[]> {
  const results = textsInJobs(text, 'result', name)
  const jobs = given.map((each, at) => ({ id: each.id, token: each.token, result: results[at] }))
  return outcomesToJson(given, await queue.byToken.ack(jobs))
}

export function outcomesToJson(given: readonly JobLease[], outcomes: readonly Settled<string>[]): object[] {
  return given.map((each, at) => ({ id: each.id, token: each.token, ...outcomes[at] }))
}
