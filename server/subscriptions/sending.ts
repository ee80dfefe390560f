// Sends one letter to one subscriber, and judges what came of it.

import type { Place } from '../queues/place.ts'
import type { AddressRange } from './address-guard.ts'
import type { Budget } from './budget.ts'
import type { LetterForm } from './letter.ts'
import type { Subscription } from './subscription.ts'
import { type Outcome, postLetter } from './webhook.ts'

/** A subscription whose turn it is. */
export interface Addressee {
  readonly place: Place
  readonly id: string
  readonly subscription: Subscription
  /** Served with those that take long: they have all the time that a subscriber may take. */
  readonly isSlow: boolean
  readonly form: LetterForm
  /** Seconds before each retry. */
  readonly delays: readonly number[]
  /** Ends what is under way. */
  readonly signal: AbortSignal
  /** Bytes of letters under way. */
  readonly letters: Budget
}

export interface Sent {
  /** `late`: it took longer than the quick ones may, and is tried once more among the slow; `refused`: no other try would change it. */
  readonly result: 'delivered' | 'failed' | 'late' | 'refused'
  /** Whether the receiver took so long that others should not wait for it. */
  readonly slow: boolean
  /** Why it was not delivered. */
  readonly why: string
}

/** Throws the reason of the addressee's signal. */
export type Send = (to: Addressee, message: string) => Promise<Sent>

export interface SendingTerms {
  readonly timeoutMs: number
  readonly allowed: readonly AddressRange[]
  readonly maxBytes: number
  readonly onError: (error: unknown) => void
}

/** Whoever is served with the quick ones has no more: they wait for it. */
const SLOW_MS = 1000

export class LetterTooLargeError extends Error {
  override readonly name = 'LetterTooLargeError'

  constructor({ place, id, form }: Addressee, bytes: number, maxBytes: number) {
    super(
      `a letter of ${place.queue} to subscription ${id} would have ${bytes} bytes, of ${maxBytes} that are allowed: its post_data holds the message ${form.places} times`,
    )
  }
}

export function sending({ timeoutMs, allowed, maxBytes, onError }: SendingTerms): Send {
  return async (to, message) => {
    const { form, letters, signal, subscription } = to
    const bytes = form.bytesOf(message)
    if (bytes > maxBytes) {
      onError(new LetterTooLargeError(to, bytes, maxBytes))
      return { result: 'refused', slow: false, why: 'it is too large' }
    }
    const share = await letters.take(to.place.tenant.scope, bytes, signal)
    try {
      const beganAt = performance.now()
      const url = new URL(subscription.subscriber)
      const patienceMs = to.isSlow ? timeoutMs : Math.min(timeoutMs, SLOW_MS)
      let why = ''
      const onFailure = (reason: string): void => void (why = reason)
      const terms = { timeoutMs: patienceMs, allowed, signal, onFailure }
      const outcome = await postLetter(url, form.write(message), terms)
      const slow = outcome === 'late' || performance.now() - beganAt > SLOW_MS
      return { result: resultOf(outcome, patienceMs < timeoutMs), slow, why }
    } finally {
      share.release()
    }
  }
}

function resultOf(outcome: Outcome, hadLessTime: boolean): Sent['result'] {
  if (outcome === 'late') return hadLessTime ? 'late' : 'failed'
  return outcome === 'forbidden' ? 'refused' : outcome
}
