import type { Codec, Undecodable } from '../runtime/values/codec.ts'
import { microsText, toCursor, toPartitionedId } from './addresses.ts'

/** One message of a feed. */
export interface Message<Body> {
  /** Stays the same for the message's whole life; opaque. */
  readonly id: string
  /** The position just behind this message: reading on from here gives what follows. Null while delayed. */
  readonly cursor: string | null
  readonly body: Body
  /** When it was appended, in milliseconds of the server's clock. */
  readonly createdAtMs: number
  /** How old it was when it was read. */
  readonly ageMs: number
  /** Null when the message stays until it is removed. */
  readonly expiresAtMs: number | null
  /** How often it has been claimed. */
  readonly claims: number
  /** The token of the live claim that held it when it was read, or null. */
  readonly claimToken: number | null
}

/** A message whose body the codec could not read. */
export interface UndecodableMessage extends Omit<Message<never>, 'body'>, Undecodable {}

/** A message as it was found. */
export type Entry<Body> = Message<Body> | UndecodableMessage

/** Messages that were found, those of each kind in their order. */
export interface FoundMessages<Body> {
  readonly messages: readonly Message<Body>[]
  /** Those that the codec could not read. */
  readonly undecodable: readonly UndecodableMessage[]
}

/** One message of a feed in partitions. */
export interface PartitionedMessage<Body> extends Message<Body> {
  readonly partition: number
  /**
   * Where a reader stands that has met this message and those before it on its page. Null for a message
   * that no page gave: it was claimed or looked up.
   */
  readonly cursor: string | null
}

/** A message of a feed in partitions whose body the codec could not read. */
export interface UndecodablePartitionedMessage extends UndecodableMessage {
  readonly partition: number
  /** As that of a message. */
  readonly cursor: string | null
}

/** A message of a feed in partitions, as it was found. */
export type PartitionedEntry<Body> = PartitionedMessage<Body> | UndecodablePartitionedMessage

/** Messages that were found, those of each kind in their order. */
export interface FoundPartitionedMessages<Body> {
  readonly messages: readonly PartitionedMessage<Body>[]
  /** Those that the codec could not read. */
  readonly undecodable: readonly UndecodablePartitionedMessage[]
}

interface StoredMessage {
  position: number
  id: number
  expiresAtMs: number
  claims: number
  body: Buffer
}

/** `from`: the answer that brought the message. A body that the codec cannot read keeps nothing from the others. */
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
    const { body: _, ...told } = toMessage(from, stored, null, claimToken)
    return { ...told, bytes: stored.body, error }
  }
  return toMessage(from, stored, body, claimToken)
}

function toMessage<Body>(
  from: { epoch: number; nowMs: number },
  stored: StoredMessage,
  body: Body,
  claimToken: number | null,
): Message<Body> {
  // An id is the microsecond of the server at which the message was appended.
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

/** The messages of a page, or of those that were looked up. */
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

/** What a feed in partitions calls it. */
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

/** Of a feed of either kind. */
export type AnyEntry = (Message<unknown> | UndecodableMessage) & { readonly partition?: number }
export type Readable<Found extends AnyEntry> = Extract<Found, { readonly body: unknown }>
export type Undecoded<Found extends AnyEntry> = Exclude<Found, { readonly body: unknown }>

/** Whether the codec could read it. */
export function isReadable<Found extends AnyEntry>(entry: Found): entry is Readable<Found> {
  return 'body' in entry
}

/** Those that the codec could read, and the others. */
export function sortOut<Found extends AnyEntry>(
  entries: readonly Found[],
): { messages: readonly Readable<Found>[]; undecodable: readonly Undecoded<Found>[] } {
  // Nearly always all of them can be read.
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

/** Of bodies: no more messages are on a page behind those that reach it. */
export const PAGE_BYTES: number = 4 * 1024 * 1024
