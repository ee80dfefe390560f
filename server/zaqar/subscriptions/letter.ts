// The letter that a subscriber receives: a push or a question, alone or inserted into the subscriber's own text.

import type { JsonObject } from '../requests/body.ts'
import type { Signer } from '../requests/signed-url.ts'
import type { QueueSubscription } from './subscription.ts'

export interface WebhookLetter {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The data of this service in a letter. */
export interface Sender {
  readonly signer: Signer
  /** The URL of this service for subscribers. */
  readonly publicUrl: () => string
}

/** A question to the subscriber: `confirm` asks for a confirmation, `farewell` says that the subscription has ended. */
export type SubscriberQuestion = 'confirm' | 'farewell'

const ANSWER_WITHIN_MS = 86_400_000
const PLACE_OF_MESSAGE = '"$zaqar_message$"'
// A question is never shorter than this, whatever its names.
const LEAST_MESSAGE_BYTES = 512

/** The form of the letters of one subscription. */
export class LetterForm {
  readonly #headers: Readonly<Record<string, string>>
  /** The text around the places of the message. */
  readonly #parts: readonly string[]
  readonly #ownBytes: number

  constructor({ post_headers: headers, post_data: template }: JsonObject) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked when it was subscribed
    this.#headers = { 'Content-Type': 'application/json', ...((headers ?? {}) as Record<string, string>) }
    this.#parts = typeof template === 'string' ? template.split(PLACE_OF_MESSAGE) : ['', '']
    this.#ownBytes = this.#parts.reduce((bytes, part) => bytes + Buffer.byteLength(part), 0)
  }

  /** How often a letter contains the message. */
  get places(): number {
    return this.#parts.length - 1
  }

  /** The size of the smallest possible letter. */
  get leastBytes(): number {
    return this.#bytesWith(LEAST_MESSAGE_BYTES)
  }

  bytesOf(message: string): number {
    return this.#bytesWith(Buffer.byteLength(message))
  }

  write(message: string): WebhookLetter {
    return { headers: this.#headers, body: this.#parts.join(message) }
  }

  #bytesWith(message: number): number {
    return this.#ownBytes + this.places * message
  }
}

/** The text of a question, as JSON. */
export function encodeQuestion(
  queue: string,
  id: string,
  { project }: QueueSubscription,
  kind: SubscriberQuestion,
  { signer, publicUrl }: Sender,
): string {
  const path = `/v2/queues/${queue}/subscriptions/${id}/confirm`
  const signed = signer.sign({ paths: [path], methods: ['PUT'], project }, Date.now() + ANSWER_WITHIN_MS)
  const [type, message] =
    kind === 'confirm'
      ? ['SubscriptionConfirmation', `You were subscribed to the queue ${queue}: please confirm.`]
      : ['UnsubscribeConfirmation', `You are no longer subscribed to the queue ${queue}.`]
  return JSON.stringify({
    Message_Type: type,
    Message: message,
    queue_name: queue,
    WSGISubscribeURL: publicUrl() + path,
    'URL-Signature': signed.signature,
    'URL-Methods': signed.methods.join(','),
    'URL-Paths': signed.paths.join(','),
    'URL-Expires': signed.expires,
    'X-Project-ID': project,
    SubscribeBody: { confirmed: true },
    UnsubscribeBody: { confirmed: false },
  })
}
