// Pushing messages to subscribers, from the post to the last retry.

import type { Appended, NewMessage, Perilune } from 'perilune'
import { besides, openFeed, type QueuePlace } from '../queues/place.ts'
import type { Registry } from '../queues/registry.ts'
import { termsOf } from '../requests/metadata.ts'
import { isQueueName } from '../requests/names.ts'
import type { ZaqarSettings } from '../settings/settings.ts'
import type { SubscriptionTerms } from '../subscriptions/terms.ts'
import { Agenda, type AskJob, type WebhookTurn } from './agenda.ts'
import { Budget } from './budget.ts'
import { Courier } from './courier.ts'
import { encodeQuestion, LetterForm, type SubscriberQuestion, type Sender } from '../subscriptions/letter.ts'
import { News } from './news.ts'
import { decodePush, type Push, Pushes } from './pushes.ts'
import { choosePolicy, delaysOf } from '../requests/retry-policy.ts'
import { type Addressee, LetterSender } from './letter-sender.ts'
import {
  nothingPushed,
  type QueueSubscription,
  type SubscriptionEntry,
} from '../subscriptions/subscription.ts'
import { type NewSubscription, QueueSubscriptions } from '../subscriptions/subscriptions.ts'
import { Caretaker } from './caretaker.ts'

export interface WebhooksParts {
  readonly perilune: Perilune
  readonly registry: Registry
  readonly settings: ZaqarSettings
  readonly sender: Sender
  /** Receives errors of background work. */
  readonly onError: (error: unknown) => void
}

const HOUR_MS = 3_600_000
const QUESTION_BYTES = 1024 * 1024

export class Webhooks {
  readonly subscriptions: QueueSubscriptions
  readonly #parts: WebhooksParts
  readonly #pushes: Pushes
  readonly #agenda: Agenda
  readonly #news: News
  readonly #courier: Courier
  readonly #caretaker: Caretaker
  readonly #sender: LetterSender
  /** Bytes of questions being sent. */
  readonly #questions = new Budget(QUESTION_BYTES)

  constructor(parts: WebhooksParts) {
    const { perilune, settings, onError } = parts
    const { limits, webhookAllow: allowed } = settings
    this.#parts = parts
    const subscriptions = (this.subscriptions = new QueueSubscriptions(perilune, limits))
    const pushes = (this.#pushes = new Pushes(perilune, limits))
    const agenda = (this.#agenda = new Agenda({ perilune, slots: limits.webhookSubscribers, onError }))
    const sender = (this.#sender = new LetterSender({
      timeoutMs: limits.webhookTimeoutMs,
      allowed,
      maxBytes: limits.maxWebhookBody,
      onError,
    }))
    this.#news = new News({ perilune, onError, onChange: (place) => subscriptions.forget(place) })
    this.#caretaker = new Caretaker({ subscriptions, pushes, agenda })
    this.#courier = new Courier({
      subscriptions,
      pushes,
      agenda,
      sender,
      concurrency: limits.webhookConcurrency,
      maxPushBytes: limits.maxMessagesPostSize,
      address: (turn, subscription, letters) => this.#address(turn, subscription, letters),
      deadLetters: {
        report: (to, why) => onError(gaveUp('a push', to, why)),
        store: (to, push) => this.#storeDeadLetter(to, push),
        reportUnstored: (to, error) => onError(unstored(to, error)),
      },
    })
  }

  start(): void {
    this.#news.start()
    this.#agenda.start({
      tend: (place, round) => this.#caretaker.tend(place, round),
      push: (turn) => this.#courier.takeTurn(turn),
      ask: (turn, question) => this.#carryQuestion(turn, question),
    })
  }

  /** Running work may end within the limit; the rest is done after the next start, or by other processes. */
  async close(withinMs: number): Promise<void> {
    await Promise.all([this.#news.close(), this.#agenda.close(withinMs)])
  }

  /** Stores the pushes. Once this has resolved, no push of these messages is lost. */
  async announce(
    place: QueuePlace,
    messages: readonly NewMessage<string>[],
    appended: readonly Appended[],
  ): Promise<void> {
    if (!(await this.subscriptions.areActive(place))) return
    await this.#pushes.append(place, messages, appended)
    await this.#agenda.tendNow(place)
  }

  /** Adds a subscription and asks its receiver for a confirmation, unless that has confirmed one already. */
  async subscribe(place: QueuePlace, wanted: NewSubscription): Promise<SubscriptionEntry> {
    const entry = await this.subscriptions.add(place, wanted)
    if (entry.subscription.confirmed) return entry
    if (entry.isNew) await this.#agenda.tendLater(place, 0, Math.min(wanted.ttl * 1000, HOUR_MS))
    await this.#ask(place, entry, 'confirm')
    return entry
  }

  /** Null if the subscription does not exist. */
  async change(
    place: QueuePlace,
    id: string,
    terms: Partial<SubscriptionTerms>,
  ): Promise<QueueSubscription | null> {
    const changed = await this.subscriptions.patch(place, id, terms)
    if (changed === null) return null
    if (changed.confirmed || terms.subscriber === undefined) await this.#news.publish(place)
    else await this.#ask(place, { id, subscription: changed }, 'confirm')
    return changed
  }

  /** A confirmed subscription gets messages posted from then on. Null if the subscription does not exist. */
  async confirm(place: QueuePlace, id: string, confirmed: boolean): Promise<QueueSubscription | null> {
    const { subscriptions } = this
    const marker = await this.#pushes.endMarker(place)
    const changed = await subscriptions.change(place, id, (known) => {
      if (known.confirmed === confirmed) return known
      return {
        ...known,
        confirmed,
        progress: { ...nothingPushed, slow: known.progress.slow, marker, since: marker },
      }
    })
    if (changed === null) return null
    if (confirmed) await this.#news.publish(place)
    else await this.#ask(place, { id, subscription: changed }, 'farewell')
    return changed
  }

  async remove(place: QueuePlace, id: string): Promise<void> {
    if (await this.subscriptions.remove(place, id)) await this.#news.publish(place)
  }

  /** Ends all subscriptions of a queue. Waiting pushes are not sent. */
  async clear(place: QueuePlace): Promise<void> {
    const wereSome = await this.subscriptions.clear(place)
    await this.#pushes.clear(place)
    if (wereSome) await this.#news.publish(place)
  }

  /** Sends a subscriber a question, and notifies the other processes of changed subscriptions. */
  async #ask(
    place: QueuePlace,
    { id, subscription }: SubscriptionEntry,
    kind: SubscriberQuestion,
  ): Promise<void> {
    await this.#agenda.ask(place, { subscription: id, key: subscription.key, kind })
    await this.#news.publish(place)
  }

  async #address(
    { place, subscription: id, isSlow, job }: WebhookTurn,
    subscription: QueueSubscription,
    letters: Budget,
  ): Promise<Addressee> {
    const options = await this.subscriptions.options(place, { id, subscription })
    const metadata = (await this.#parts.registry.recall(place)) ?? {}
    const policy = choosePolicy(options['_retry_policy'], metadata['_retry_policy'])
    const form = new LetterForm(options)
    const delays = delaysOf(policy)
    return { place, id, subscription, isSlow, form, delays, signal: job.signal, letters }
  }

  async #carryQuestion(turn: WebhookTurn, question: AskJob): Promise<void> {
    const { kind, key, tries = 0 } = question
    const { place, subscription: id, job } = turn
    const subscription = await this.subscriptions.get(place, id)
    if (subscription === null || subscription.key !== key) return
    if (kind === 'confirm' && subscription.confirmed) return
    const to = await this.#address(turn, subscription, this.#questions)
    const text = encodeQuestion(place.queue, id, subscription, kind, this.#parts.sender)
    const { result, slow, why } = await this.#sender.send(to, text)
    if (result === 'delivered') return this.#noteQuickness(to, slow)
    const delay = result === 'failed' ? to.delays[tries + job.attempt - 1] : undefined
    if (delay === undefined) this.#parts.onError(gaveUp('a question', to, why))
    else await this.#agenda.askAgain(turn, question, `${delay}s`)
  }

  /** A receiver that has accepted a letter fast is served by the fast queue. */
  async #noteQuickness({ place, id, subscription: { key } }: Addressee, slow: boolean): Promise<void> {
    await this.subscriptions.change(place, id, (known) =>
      known.key === key ? { ...known, progress: { ...known.progress, slow } } : known,
    )
  }

  async #storeDeadLetter({ place, subscription }: Addressee, push: Push): Promise<void> {
    const { perilune, registry, settings } = this.#parts
    const metadata = (await registry.recall(place)) ?? {}
    const queue = metadata['_dead_letter_queue']
    if (!isQueueName(queue)) return
    const target = besides(place, queue)
    const { messageTtl } = termsOf((await registry.recall(target)) ?? {}, settings.limits)
    const ttl = Number(metadata['_dead_letter_queue_messages_ttl'] ?? messageTtl)
    const { id, body } = decodePush(push)
    const idempotencyKey = `${subscription.key} ${id}`
    await openFeed(perilune, target).append(body, { ttl: `${ttl}s`, idempotencyKey })
    await registry.register(target, {})
  }
}

function gaveUp(what: string, { place, id }: Addressee, why: string): Error {
  return new Error(`gave up ${what} of ${place.queue} to subscription ${id}: ${why}`)
}

function unstored({ place, id }: Addressee, cause: unknown): Error {
  const what = `a push of ${place.queue} to subscription ${id} waits until its dead letter can be stored`
  return new Error(what, { cause })
}
