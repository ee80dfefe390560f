import type { Agreement } from '../runtime/partitions/agreement.ts'
import type { Codec, Undecodable } from '../runtime/values/codec.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import type { Unit } from '../runtime/connection/unit.ts'

/** One message of a feed. */
export interface Message<Body> {
  /** Stays the same for the message's whole life; opaque. */
  readonly id: string
  /** The position just behind this message: reading on from here gives what follows. Null while delayed. */
  readonly marker: string | null
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

/** What the parts of one feed share. */
export interface Source<Body> {
  readonly unit: Unit
  readonly codec: Codec<Body>
  /** Over how many partitions the feed is spread, for scripts; 0: it is not. */
  readonly spread: number
  /** That number, as all have to say it; null: the feed has none. */
  readonly agreement: Agreement | null
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
    marker: stored.position === 0 ? null : toMarker(from.epoch, stored.position),
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

type AnyEntry = Message<unknown> | UndecodableMessage
type Readable<Found extends AnyEntry> = Extract<Found, { readonly body: unknown }>
type Undecoded<Found extends AnyEntry> = Exclude<Found, { readonly body: unknown }>

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

export function toMarker(epoch: number, position: number): string {
  return `${microsText(epoch)}-${microsText(position)}`
}

/**
 * Microseconds as text. Their upper digits are those of the last call nearly always, and writing a
 * double of sixteen digits is the dearest part of making a message.
 */
export function microsText(micros: number): string {
  if (micros < MILLION) return String(micros)
  const upper = Math.floor(micros / MILLION)
  if (upper !== lastUpper) {
    lastUpper = upper
    lastUpperText = String(upper)
  }
  return lastUpperText + String(micros - upper * MILLION + MILLION).slice(1)
}

const MILLION = 1_000_000
let lastUpper = 0
let lastUpperText = '0'

/** The numbers of ids that can name a message; others name none and are left out. */
export function knownIds(argument: string, ids: unknown): number[] {
  if (!Array.isArray(ids) || ids.length > MAX_IDS) {
    throw new InvalidArgumentError(argument, `must be a list of at most ${MAX_IDS} message ids`)
  }
  return ids.map(String).filter(isId).map(Number)
}

export function checkMarker(argument: string, marker: unknown): string {
  if (typeof marker !== 'string' || !MARKER.test(marker)) {
    throw new InvalidArgumentError(argument, "must be a marker as a page gave it, or 'end'")
  }
  return marker
}

export const MAX_IDS = 1000
/** Of bodies: no more messages are on a page behind those that reach it. */
export const PAGE_BYTES: number = 4 * 1024 * 1024
const MARKER = /^(?:end|\d{1,16}-\d{1,16}(?:-\d{1,16}-\d{1,16})?)$/

function isId(id: string): boolean {
  return /^[1-9]\d{0,15}$/.test(id)
}
