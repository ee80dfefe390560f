// Sends one letter to one subscriber, and judges what came of it.

import type { Place } from '../queues/place.ts'
import type { AddressRange } from './address-guard.ts'
import type { Budget } from './budget.ts'
import type { LetterForm } from './letter.ts'
import type { Subscription } from './subscription.ts'
import { postLetter } from './webhook.ts'

/** A subscription whose turn it is. */
export interface Addressee {
  readonly place: Place
  readonly id: string
  readonly subscription: Subscription
  readonly form: LetterForm
  /** Seconds before each retry. */
  readonly delays: readonly number[]
  /** Ends what is under way. */
  readonly signal: AbortSignal
  /** Bytes of letters under way. */
  readonly letters: Budget
}

export interface Sent {
  /** `refused`: no other try would change it. */
  readonly result: 'delivered' | 'failed' | 'refused'
  /** Whether the receiver took so long that others should not wait for it. */
  readonly slow: boolean
}

/** Throws the reason of the addressee's signal. */
export type Send = (to: Addressee, message: string) => Promise<Sent>

export interface SendingTerms {
  readonly timeoutMs: number
  readonly allowed: readonly AddressRange[]
  readonly maxBytes: number
  readonly onError: (error: unknown) => void
}

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
      return { result: 'refused', slow: false }
    }
    const share = await letters.take(bytes, signal)
    try {
      const beganAt = performance.now()
      const url = new URL(subscription.subscriber)
      const outcome = await postLetter(url, form.write(message), { timeoutMs, allowed, signal })
      const slow = performance.now() - beganAt > SLOW_MS
      return { result: outcome === 'forbidden' ? 'refused' : outcome, slow }
    } finally {
      share.release()
    }
  }
}
