// Messages as answers show them. Their bodies are JSON text already and are put in as they are; ids and
// markers consist of digits and dashes.

import type { Claim, FeedInspection, Message, Page } from 'perilune'

export function encodeMessage(message: Message<string>): string {
  const { id, marker, createdAtMs, ageMs, expiresAtMs, claims, claimToken, body } = message
  const position = marker === null ? null : `"${marker}"`
  return `{"id":"${id}","marker":${position},"createdAtMs":${createdAtMs},"ageMs":${ageMs},"expiresAtMs":${expiresAtMs},"claims":${claims},"claimToken":${claimToken},"body":${body}}`
}

export function encodePage({ messages, next, more, gap, reset }: Page<string>): string {
  return `{"messages":${list(messages)},"next":"${next}","more":${more},"gap":${gap},"reset":${reset}}`
}

export function encodeClaim({ token, leaseMs, expiresAtMs, messages }: Claim<string>): string {
  return `{"token":${token},"leaseMs":${leaseMs},"expiresAtMs":${expiresAtMs},"messages":${list(messages)}}`
}

export function encodeInspection(name: string, picture: FeedInspection<string>): string {
  const { exists: _exists, codec: _codec, oldest, newest, ...counts } = picture
  const shown = JSON.stringify({ name, ...counts }).slice(0, -1)
  return `${shown},"oldest":${encodeEnd(oldest)},"newest":${encodeEnd(newest)}}`
}

function encodeEnd(message: Message<string> | null): string {
  return message === null ? 'null' : encodeMessage(message)
}

function list(messages: readonly Message<string>[]): string {
  return `[${messages.map(encodeMessage).join(',')}]`
}
