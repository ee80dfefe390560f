// What waits to be sent to the subscribers of a queue: a feed for each queue.

import { randomUUID } from 'node:crypto'
import type { Appended, Feed, NewMessage, Perilune } from 'perilune'
import { jsonText } from 'perilune'
import type { Limits } from '../limits.ts'
import { feedName, type Place } from '../queues/place.ts'
import { encodeJob, idempotencyKeyOf, type Job, type Question } from './job.ts'
import type { SubscriptionEntry } from './subscription.ts'

export class Deliveries {
  readonly #perilune: Perilune
  readonly #maxMessageTtl: number

  constructor(perilune: Perilune, { maxMessageTtl }: Limits) {
    this.#perilune = perilune
    this.#maxMessageTtl = maxMessageTtl
  }

  /** Where those of a queue wait; not for ever, should nobody come for them. */
  feed(place: Place): Feed<string> {
    const expireAfter = `${this.#maxMessageTtl}s` as const
    return this.#perilune.feed(`webhooks/${feedName(place)}`, { codec: jsonText, expireAfter })
  }

  /** Stores a push of each message for each subscription. Resolves to true when nothing had waited there. */
  async addPushes(
    place: Place,
    subscriptions: readonly SubscriptionEntry[],
    messages: readonly NewMessage<string>[],
    appended: readonly Appended[],
  ): Promise<boolean> {
    const pushes = messages.flatMap((message, at) =>
      subscriptions.map((entry) => toPush(entry, message, appended[at]?.id ?? '')),
    )
    const added = await this.feed(place).appendMany(pushes)
    return added.some(({ began }) => began)
  }

  async addQuestion(
    place: Place,
    { id, subscription }: SubscriptionEntry,
    kind: Question['kind'],
  ): Promise<void> {
    const { key } = subscription
    await this.feed(place).append(
      encodeJob({ kind, subscription: id, key, message: `${kind} ${randomUUID()}`, retries: 0 }),
    )
  }
}

function toPush(
  { id, subscription }: SubscriptionEntry,
  { body, expireAfter = '0s', delay }: NewMessage<string>,
  message: string,
): NewMessage<string> {
  const ttl = Number.parseInt(expireAfter, 10)
  const job: Job = {
    kind: 'message',
    subscription: id,
    key: subscription.key,
    message,
    retries: 0,
    ttl,
    body,
  }
  const idempotencyKey = idempotencyKeyOf(job)
  return { body: encodeJob(job), idempotencyKey, ...(delay === undefined ? {} : { delay }) }
}
