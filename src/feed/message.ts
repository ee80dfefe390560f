import type { Codec, Undecodable } from '../runtime/values/codec.ts'
import { microsText, toCursor, toPartitionedId } from './addresses.ts'

/** One message of a feed. */
export interface Message<Body> {
  /** An opaque id that never changes. */
  readonly id: string
  /**
   * The position directly after this message: pass it as `after` to read the following messages. Null while delayed.
   */
  readonly cursor: string | null
  readonly body: Body
  /** When it was appended, in milliseconds of the server's clock. */
  readonly createdAtMs: number
  /** The age of the message in milliseconds when it was read. */
  readonly ageMs: number
  /** When the message expires, in milliseconds of the server's clock; null when it stays until it is removed. */
  readonly expiresAtMs: number | null
  /** The number of times that the message was claimed. */
  readonly claims: number
  /** The token of the live claim that held it when it was read, or null. */
  readonly claimToken: number | null
}

/** A message whose body the codec could not decode. */
export interface UndecodableMessage extends Omit<Message<never>, 'body'>, Undecodable {}

/** A message, decodable or not. */
export type Entry<Body> = Message<Body> | UndecodableMessage

/** The messages found, decodable and undecodable ones each in their order. */
export interface FoundMessages<Body> {
  readonly messages: readonly Message<Body>[]
  /** The messages that the codec could not decode. */
  readonly undecodable: readonly UndecodableMessage[]
}

/** One message of a feed in partitions. */
export interface PartitionedMessage<Body> extends Message<Body> {
  /** The partition of the message, counted from 0. */
  readonly partition: number
  /**
   * The position after this message and all earlier messages of its page, in all partitions. Null for a message that
   * was claimed or looked up instead of read from a page.
   */
  readonly cursor: string | null
}

/** A message of a feed in partitions whose body the codec could not decode. */
export interface UndecodablePartitionedMessage extends UndecodableMessage {
  readonly partition: number
  /** Like the cursor of a message. */
  readonly cursor: string | null
}

/** A message of a feed in partitions, decodable or not. */
export type PartitionedEntry<Body> = PartitionedMessage<Body> | UndecodablePartitionedMessage

/** The messages found, decodable and undecodable ones each in their order. */
export interface FoundPartitionedMessages<Body> {
  readonly messages: readonly PartitionedMessage<Body>[]
  /** The messages that the codec could not decode. */
  readonly undecodable: readonly UndecodablePartitionedMessage[]
}

interface StoredMessage {
  position: number
  id: number
  expiresAtMs: number
  claims: number
  body: Buffer
}

/** `from`: the answer with the message. An undecodable body does not affect other messages. */
export function toEntry<Body>(
  from: { epoch: number; nowMs: number },
  stored: StoredMessage,
  codec: Codec<Body>,
  claimToken: number | null,
): Entry<Body> {
  let body: Body
  try {
    body = codec.decode(stored.body)
  } catch (error) {
    const { body: _, ...fields } = toMessage(from, stored, null, claimToken)
    return { ...fields, bytes: stored.body, error }
  }
  return toMessage(from, stored, body, claimToken)
}

function toMessage<Body>(
  from: { epoch: number; nowMs: number },
  stored: StoredMessage,
  body: Body,
  claimToken: number | null,
): Message<Body> {
  // An id is the microsecond of the append, by the server's clock.
  const createdAtMs = Math.floor(stored.id / 1000)
  return {
    id: microsText(stored.id),
    cursor: stored.position === 0 ? null : toCursor(from.epoch, stored.position),
    body,
    createdAtMs,
    ageMs: Math.max(0, from.nowMs - createdAtMs),
    expiresAtMs: stored.expiresAtMs === 0 ? null : stored.expiresAtMs,
    claims: stored.claims,
    claimToken,
  }
}

/** The messages of a page or of a lookup. */
export function toEntries<Body>(
  from: {
    epoch: number
    nowMs: number
    messages: StoredMessage[]
    held: { position: number; token: number }[]
  },
  codec: Codec<Body>,
): Entry<Body>[] {
  const tokens = new Map(from.held.map(({ position, token }) => [position, token]))
  return from.messages.map((stored) => toEntry(from, stored, codec, tokens.get(stored.position) ?? null))
}

/** The message in the form of a feed in partitions. */
export function inPartition<Body>(
  partition: number,
  found: Message<Body>,
  cursor: string | null,
): PartitionedMessage<Body>
export function inPartition(
  partition: number,
  found: UndecodableMessage,
  cursor: string | null,
): UndecodablePartitionedMessage
export function inPartition<Body>(
  partition: number,
  found: Entry<Body>,
  cursor: string | null,
): PartitionedEntry<Body>
export function inPartition<Body>(
  partition: number,
  found: Entry<Body>,
  cursor: string | null,
): PartitionedEntry<Body> {
  return { ...found, id: toPartitionedId(partition, found.id), cursor, partition }
}

/** A message of a feed with or without partitions. */
export type AnyEntry = (Message<unknown> | UndecodableMessage) & { readonly partition?: number }
export type Readable<Found extends AnyEntry> = Extract<Found, { readonly body: unknown }>
export type Undecoded<Found extends AnyEntry> = Exclude<Found, { readonly body: unknown }>

/** Whether the codec could decode the message. */
export function isReadable<Found extends AnyEntry>(entry: Found): entry is Readable<Found> {
  return 'body' in entry
}

/** Separates decodable from undecodable messages. */
export function sortOut<Found extends AnyEntry>(
  entries: readonly Found[],
): { messages: readonly Readable<Found>[]; undecodable: readonly Undecoded<Found>[] } {
  // The usual case: all are decodable.
  if (areReadable(entries)) return { messages: entries, undecodable: NONE }
  const undecodable = entries.filter((entry): entry is Undecoded<Found> => !isReadable(entry))
  return { messages: entries.filter((entry) => isReadable(entry)), undecodable }
}

function areReadable<Found extends AnyEntry>(
  entries: readonly Found[],
): entries is readonly Readable<Found>[] {
  for (const entry of entries) if (!isReadable(entry)) return false
  return true
}

const NONE: readonly never[] = Object.freeze([])

/** The bytes of bodies on a page: it ends after the message that reaches them. */
export const PAGE_BYTES: number = 4 * 1024 * 1024
