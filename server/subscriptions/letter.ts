// What a subscriber receives.

import type { Signer } from '../zaqar/signed-url.ts'
import type { Job, Push, Question } from './job.ts'
import type { Subscription } from './subscription.ts'

export interface Letter {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What a letter says of this service. */
export interface Sender {
  readonly signer: Signer
  /** Where subscribers reach it. */
  readonly publicUrl: () => string
}

const ANSWER_WITHIN_MS = 86_400_000
const PLACE_OF_MESSAGE = '"$zaqar_message$"'

export function writeLetter(queue: string, subscription: Subscription, job: Job, sender: Sender): Letter {
  const { post_headers: headers, post_data: template } = subscription.options
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked when it was subscribed
  const own = (headers ?? {}) as Record<string, string>
  const text =
    job.kind === 'message' ? encodePush(queue, job) : encodeQuestion(queue, subscription, job, sender)
  return {
    headers: { 'Content-Type': 'application/json', ...own },
    // A function, for what stands in a message must not be read as a pattern.
    body: typeof template === 'string' ? template.replaceAll(PLACE_OF_MESSAGE, () => text) : text,
  }
}

function encodePush(queue: string, { message, ttl, body }: Push): string {
  return `{"Message_Type":"Notification","queue_name":"${queue}","id":"${message}","ttl":${ttl},"body":${body}}`
}

function encodeQuestion(
  queue: string,
  { project }: Subscription,
  { kind, subscription: id }: Question,
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
