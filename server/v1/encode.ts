// Messages as answers show them. Their bodies are JSON text already and are put in as they are; ids and
// markers consist of digits and dashes.

import { joined, listed } from '../joined.ts'
import type { Pieces } from '../pieces.ts'
import { encodeUndecoded } from './undecoded.ts'
import type { Claim, FeedInspection, Message, Page, UndecodableMessage } from 'perilune'

export function encodeMessage(message: Message<string>): string {
  return `{${headOf(message)},"body":${message.body}}`
}

/** One that is no JSON. */
export function encodeUndecodable(message: UndecodableMessage): string {
  return `{${headOf(message)},${encodeUndecoded(message)}}`
}

function headOf(message: Omit<Message<unknown>, 'body'>): string {
  const { id, marker, createdAtMs, ageMs, expiresAtMs, claims, claimToken } = message
  const position = marker === null ? null : `"${marker}"`
  return `"id":"${id}","marker":${position},"createdAtMs":${createdAtMs},"ageMs":${ageMs},"expiresAtMs":${expiresAtMs},"claims":${claims},"claimToken":${claimToken}`
}

/** A page may hold megabytes. */
export function encodePage({ messages, undecodable, next, more, gap, reset }: Page<Buffer>): Buffer | Pieces {
  const others = undecodable.map(encodeUndecodable).join(',')
  const shown = listed(messages, (message) => [`{${headOf(message)},"body":`, message.body, '}'])
  const rest = `,"undecodable":[${others}],"next":"${next}","more":${more},"gap":${gap},"reset":${reset}}`
  return joined(['{"messages":', ...shown, rest])
}

export function encodeClaim({ token, leaseMs, expiresAtMs, messages }: Claim<string>): string {
  return `{"token":${token},"leaseMs":${leaseMs},"expiresAtMs":${expiresAtMs},"messages":${list(messages)}}`
}

export function encodeInspection(name: string, picture: FeedInspection<string>): string {
  const { exists: _exists, codec: _codec, oldest, newest, ...counts } = picture
  const shown = JSON.stringify({ name, ...counts }).slice(0, -1)
  return `${shown},"oldest":${encodeEnd(oldest)},"newest":${encodeEnd(newest)}}`
}

function encodeEnd(message: Message<string> | UndecodableMessage | null): string {
  if (message === null) return 'null'
  return 'body' in message ? encodeMessage(message) : encodeUndecodable(message)
}

function list(messages: readonly Message<string>[]): string {
  return `[${messages.map(encodeMessage).join(',')}]`
}
