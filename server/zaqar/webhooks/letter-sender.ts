// Sends one letter to one subscriber, and evaluates the result.

import type { QueuePlace } from '../queues/place.ts'
import type { AddressRange } from '../addresses/guard.ts'
import type { Budget } from './budget.ts'
import type { LetterForm } from '../subscriptions/letter.ts'
import type { QueueSubscription } from '../subscriptions/subscription.ts'
import { type PostOutcome, postLetter } from './webhook.ts'

/** A subscription whose turn it is. */
export interface Addressee {
  readonly place: QueuePlace
  readonly id: string
  readonly subscription: QueueSubscription
  /** Served by the slow queue: with the full time that a subscriber may take. */
  readonly isSlow: boolean
  readonly form: LetterForm
  /** Seconds before each retry. */
  readonly delays: readonly number[]
  /** Ends running requests. */
  readonly signal: AbortSignal
  /** Bytes of letters being sent. */
  readonly letters: Budget
}

export interface LetterResult {
  /**
   * `late`: it took longer than fast subscribers may, and is tried once more in the slow queue; `refused`: no retry
   * would change it.
   */
  readonly result: 'delivered' | 'failed' | 'late' | 'refused'
  /** Whether the receiver was so slow that others should not wait for it. */
  readonly slow: boolean
  /** Why it was not delivered. */
  readonly why: string
}

export interface LetterSenderTerms {
  readonly timeoutMs: number
  readonly allowed: readonly AddressRange[]
  readonly maxBytes: number
  readonly onError: (error: unknown) => void
}

/** The limit for fast subscribers, who wait for each other. */
const SLOW_MS = 1000

export class LetterTooLargeError extends Error {
  override readonly name = 'LetterTooLargeError'

  constructor({ place, id, form }: Addressee, bytes: number, maxBytes: number) {
    super(
      `a letter of ${place.queue} to subscription ${id} would have ${bytes} bytes, but only ${maxBytes} are allowed: its post_data contains the message ${form.places} times`,
    )
  }
}

export class LetterSender {
  readonly #terms: LetterSenderTerms

  constructor(terms: LetterSenderTerms) {
    this.#terms = terms
  }

  /** Throws the reason of the addressee's signal. */
  async send(to: Addressee, message: string): Promise<LetterResult> {
    const { timeoutMs, allowed, maxBytes, onError } = this.#terms
    const { form, letters, signal, subscription } = to
    const bytes = form.bytesOf(message)
    if (bytes > maxBytes) {
      onError(new LetterTooLargeError(to, bytes, maxBytes))
      return { result: 'refused', slow: false, why: 'it is too large' }
    }
    const url = new URL(subscription.subscriber)
    const share = await letters.take(to.place.tenant.scope, bytes, signal)
    const beganAt = performance.now()
    const patienceMs = to.isSlow ? timeoutMs : Math.min(timeoutMs, SLOW_MS)
    let why = ''
    const onFailure = (reason: string): void => void (why = reason)
    const terms = { timeoutMs: patienceMs, allowed, signal, onFailure, onDropped: share.release }
    const outcome = await postLetter(url, form.write(message), terms)
    const slow = outcome === 'late' || performance.now() - beganAt > SLOW_MS
    return { result: resultOf(outcome, patienceMs < timeoutMs), slow, why }
  }
}

function resultOf(outcome: PostOutcome, hadLessTime: boolean): LetterResult['result'] {
  if (outcome === 'late') return hadLessTime ? 'late' : 'failed'
  return outcome === 'forbidden' ? 'refused' : outcome
}
