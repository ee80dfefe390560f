// Messages in the form of answers. Their bodies are JSON text already and are inserted unchanged; ids and cursors
// consist of digits and dashes.

import { joined, listed, type AnswerPart } from '../../http/answers/joined.ts'
import type { AnswerPieces } from '../../http/answers/pieces.ts'
import { encodeUndecoded } from '../api/undecoded.ts'
import type { Claim, FeedInspection, Message, Page, UndecodableMessage } from 'perilune'

type Entry = Message<Buffer> | UndecodableMessage

export function encodeMessage(message: Message<string>): string {
  return `{${headOf(message)},"body":${message.body}}`
}

/** A message that is not JSON. */
export function encodeUndecodable(message: UndecodableMessage): string {
  return `{${headOf(message)},${encodeUndecoded(message)}}`
}

function headOf(message: Omit<Message<unknown>, 'body'>): string {
  const { id, cursor, createdAtMs, ageMs, expiresAtMs, claims, claimToken } = message
  const position = cursor === null ? null : `"${cursor}"`
  return `"id":"${id}","cursor":${position},"createdAtMs":${createdAtMs},"ageMs":${ageMs},"expiresAtMs":${expiresAtMs},"claims":${claims},"claimToken":${claimToken}`
}

/** A message that may be large. */
export function encodeFound(found: Entry): Buffer | AnswerPieces {
  return joined(partsOf(found))
}

/** A page may have megabytes. */
export function encodePage({
  messages,
  undecodable,
  next,
  more,
  gap,
  reset,
}: Page<Buffer>): Buffer | AnswerPieces {
  const others = undecodable.map(encodeUndecodable).join(',')
  const rest = `,"undecodable":[${others}],"next":"${next}","more":${more},"gap":${gap},"reset":${reset}}`
  return joined(['{"messages":', ...listed(messages, partsOf), rest])
}

export function encodeClaim({ token, leaseMs, expiresAtMs, messages }: Claim<Buffer>): Buffer | AnswerPieces {
  const terms = `{"token":${token},"leaseMs":${leaseMs},"expiresAtMs":${expiresAtMs},"messages":`
  return joined([terms, ...listed(messages, partsOf), '}'])
}

export function encodeInspection(name: string, picture: FeedInspection<Buffer>): Buffer | AnswerPieces {
  const { exists: _exists, codec: _codec, oldest, newest, ...counts } = picture
  const shown = JSON.stringify({ name, ...counts }).slice(0, -1)
  return joined([`${shown},"oldest":`, ...partsOf(oldest), ',"newest":', ...partsOf(newest), '}'])
}

function partsOf(found: Entry | null): AnswerPart[] {
  if (found === null) return ['null']
  return 'body' in found ? [`{${headOf(found)},"body":`, found.body, '}'] : [encodeUndecodable(found)]
}
