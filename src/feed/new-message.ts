// New messages: checked, encoded, and grouped into batches.

import { checkOptions, checkText } from '../runtime/values/arguments.ts'
import { sizeOfEncoded } from '../runtime/values/codec.ts'
import { type Duration, toMs } from '../runtime/values/duration.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { fitName } from '../runtime/values/fit-name.ts'
import { INLINE_BYTES } from '../runtime/values/inline-bytes.ts'
import type { FeedTerms } from './feed-options.ts'
import type { Message } from './message.ts'
import type { FeedSource } from './partitions.ts'

export interface AppendOptions {
  /** How long the message lives, counted from the append. Default: the `ttl` of the feed, else until it is removed. */
  ttl?: Duration
  /**
   * How long the message stays invisible, at most 365 days. It gets its cursor when it becomes visible. Default:
   * none.
   */
  delay?: Duration
  /** A repeated key within `idempotencyTtl` appends nothing and returns the id of the first message. Default: none. */
  idempotencyKey?: string
}

export interface NewMessage<Body> extends AppendOptions {
  /** The body; at most 4 MiB when encoded. */
  body: Body
}

/** A message in the form that the script takes. */
export interface OutgoingMessage {
  readonly body: string | Uint8Array
  /** The size of the body in bytes. */
  readonly bytes: number
  readonly ttlMs: number
  readonly delayMs: number
  readonly key: string
  readonly origin: string
}

export const MAX_BODY_BYTES: number = 4 * 1024 * 1024
const MAX_KEY_BYTES = 512

export function toOutgoing<Body>(
  { codec }: FeedSource<Body>,
  body: Body,
  { ttl, delay, idempotencyKey }: AppendOptions,
  { ttlMs, origin }: FeedTerms,
): OutgoingMessage {
  const encoded = codec.encode(body)
  return {
    body: encoded,
    bytes: sizeOfEncoded('body', encoded, MAX_BODY_BYTES),
    ttlMs: ttl === undefined ? ttlMs : toMs('ttl', ttl),
    delayMs: delay === undefined ? 0 : toMs('delay', delay, { min: '0ms', max: '365d' }),
    key: idempotencyKey === undefined ? '' : checkText('idempotencyKey', idempotencyKey, MAX_KEY_BYTES),
    origin,
  }
}

export function checkNewMessage(message: unknown): void {
  checkOptions('message', message, ['body', 'ttl', 'delay', 'idempotencyKey'])
  if (!('body' in (message as object))) throw new InvalidArgumentError('message.body', 'is missing')
}

/** A dead letter as a new message for another feed, with a key so that it is appended at most once. */
export function toNewMessage<Body>(
  feed: string,
  { id, body, ageMs, createdAtMs, expiresAtMs }: Message<Body>,
): NewMessage<Body> {
  const idempotencyKey = fitName(`dead ${id} of ${feed}`, MAX_KEY_BYTES)
  if (expiresAtMs === null) return { body, idempotencyKey }
  const leftMs = Math.max(1, expiresAtMs - createdAtMs - ageMs)
  return { body, idempotencyKey, ttl: `${leftMs}ms` }
}

/** Whether all have the same TTL and origin, no delay, no key, and no body that is stored separately. */
export function areAlike(messages: readonly OutgoingMessage[]): boolean {
  const [first] = messages
  if (first === undefined) return false
  const { ttlMs, origin } = first
  return messages.every(
    (message) =>
      message.ttlMs === ttlMs &&
      message.origin === origin &&
      message.delayMs === 0 &&
      message.key === '' &&
      message.bytes <= INLINE_BYTES,
  )
}

/** When messages expire one by one, some message is due at nearly every append, and the feed declines the fast path. */
export function mayDecline([first, ...others]: readonly OutgoingMessage[]): boolean {
  return others.length === 0 && first !== undefined && first.ttlMs > 0
}
