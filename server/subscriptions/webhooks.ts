// Pushing messages to subscribers, from the post to the last retry.

import type { Appended, NewMessage, Perilune } from 'perilune'
import { besides, openFeed, type Place } from '../queues/place.ts'
import type { Registry } from '../queues/registry.ts'
import { type Metadata, termsOf } from '../zaqar/metadata.ts'
import { isQueueName } from '../zaqar/names.ts'
import type { ZaqarSettings } from '../zaqar/settings.ts'
import { runCourier } from './courier.ts'
import { Couriers } from './couriers.ts'
import { Deliveries } from './deliveries.ts'
import { idempotencyKeyOf, type Job, type Question } from './job.ts'
import { type Sender, writeLetter } from './letter.ts'
import { choosePolicy, delaysOf } from './retry-policy.ts'
import type { Subscription, SubscriptionEntry } from './subscription.ts'
import { Subscriptions } from './subscriptions.ts'
import { type Outcome, postLetter } from './webhook.ts'

export interface WebhooksParts {
  readonly perilune: Perilune
  readonly registry: Registry
  readonly settings: ZaqarSettings
  readonly sender: Sender
  /** Hears of what fails in the background. */
  readonly onError: (error: unknown) => void
}

export class Webhooks {
  readonly subscriptions: Subscriptions
  readonly #parts: WebhooksParts
  readonly #deliveries: Deliveries
  readonly #couriers: Couriers

  constructor(parts: WebhooksParts) {
    const { perilune, settings, onError } = parts
    this.#parts = parts
    this.subscriptions = new Subscriptions(perilune, settings.limits)
    this.#deliveries = new Deliveries(perilune, settings.limits)
    this.#couriers = new Couriers({
      perilune,
      onError,
      work: (place, signal) => this.#work(place, signal),
      isDone: (place) => this.#isDone(place),
      onChange: (place) => this.subscriptions.forget(place),
    })
  }

  start(): void {
    this.#couriers.start()
  }

  close(): Promise<void> {
    return this.#couriers.close()
  }

  /** Stores what is to be pushed. Once this has resolved, no push of these messages is lost. */
  async announce(
    place: Place,
    messages: readonly NewMessage<string>[],
    appended: readonly Appended[],
  ): Promise<void> {
    const subscriptions = await this.subscriptions.recallConfirmed(place)
    if (subscriptions.length === 0) return
    const isFirst = await this.#deliveries.addPushes(place, subscriptions, messages, appended)
    if (isFirst) await this.#couriers.register(place)
    else this.#couriers.employ(place)
  }

  /** Sends a subscriber a question, and tells the other processes that the subscriptions have changed. */
  async ask(place: Place, entry: SubscriptionEntry, kind: Question['kind']): Promise<void> {
    await this.#deliveries.addQuestion(place, entry, kind)
    await this.#couriers.tell(place)
  }

  /** To be called after each change of a queue's subscriptions. */
  tell(place: Place): Promise<void> {
    return this.#couriers.tell(place)
  }

  /** Ends all subscriptions of a queue. Pushes that wait are not sent. */
  async clear(place: Place): Promise<void> {
    const wasDone = await this.#isDone(place)
    await this.subscriptions.clear(place)
    await this.#deliveries.feed(place).clear()
    if (!wasDone) await this.#couriers.tell(place)
  }

  #work(place: Place, signal: AbortSignal): Promise<void> {
    const { webhookConcurrency: concurrency, webhookTimeoutMs } = this.#parts.settings.limits
    const parts = {
      feed: this.#deliveries.feed(place),
      concurrency,
      leaseMs: 3 * webhookTimeoutMs,
      carry: (job: Job) => this.#carry(place, job),
      mayRest: () => this.#isDone(place),
      onError: this.#parts.onError,
    }
    return runCourier(parts, signal)
  }

  async #isDone(place: Place): Promise<boolean> {
    const [first] = await this.subscriptions.list(place, { limit: 1, marker: undefined })
    return first === undefined && (await this.#deliveries.feed(place).inspect()).total === 0
  }

  /** Seconds until the next try; null when there is none. */
  async #carry(place: Place, job: Job): Promise<number | null> {
    const subscription = await this.subscriptions.get(place, job.subscription)
    if (subscription === null || !isFor(subscription, job)) return null
    const outcome = await this.#post(place, subscription, job)
    if (outcome === 'delivered') return null
    const metadata = (await this.#parts.registry.recall(place)) ?? {}
    const policy = choosePolicy(subscription.options['_retry_policy'], metadata['_retry_policy'])
    const delay = outcome === 'forbidden' ? undefined : delaysOf(policy)[job.retries]
    if (delay === undefined) await this.#giveUp(place, metadata, job)
    return delay ?? null
  }

  #post(place: Place, subscription: Subscription, job: Job): Promise<Outcome> {
    const { sender, settings } = this.#parts
    const letter = writeLetter(place.queue, subscription, job, sender)
    const { limits, webhookAllow: allowed } = settings
    return postLetter(new URL(subscription.subscriber), letter, {
      timeoutMs: limits.webhookTimeoutMs,
      allowed,
    })
  }

  async #giveUp(place: Place, metadata: Metadata, job: Job): Promise<void> {
    const { perilune, registry, settings, onError } = this.#parts
    onError(new Error(`gave up a push of ${place.queue} to subscription ${job.subscription}`))
    const queue = metadata['_dead_letter_queue']
    if (job.kind !== 'message' || !isQueueName(queue)) return
    const target = besides(place, queue)
    const { messageTtl } = termsOf((await registry.recall(target)) ?? {}, settings.limits)
    const ttl = Number(metadata['_dead_letter_queue_messages_ttl'] ?? messageTtl)
    const idempotencyKey = idempotencyKeyOf(job)
    await openFeed(perilune, target).append(job.body, { expireAfter: `${ttl}s`, idempotencyKey })
    await registry.register(target, {})
  }
}

/** What was meant for an earlier subscription of the same id, or for a confirmed one, is not sent. */
function isFor({ key, confirmed }: Subscription, job: Job): boolean {
  if (key !== job.key) return false
  return job.kind === 'message' ? confirmed : job.kind === 'confirm' ? !confirmed : true
}
