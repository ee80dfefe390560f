// Messages of an append. Bodies stay the text that was sent.

import { InvalidArgumentError, type NewMessage } from 'perilune'
import { findElementsOf, findMember, findStart, type Slice } from '../../json/slices.ts'

type Appending = NewMessage<unknown> | { messages: NewMessage<unknown>[] }

/** `request`: the body of the request; `text`: the same as it was sent; `key`: the header Idempotency-Key. */
export function newMessages(request: Appending, text: string, key: string | undefined): NewMessage<string>[] {
  const start = findStart(text)
  if (!('messages' in request)) return [withKey(exact(request, text, { from: start, to: text.length }), key)]
  const slices = findElementsOf(text, start, 'messages')
  const messages = request.messages.map((message, at) => exact(message, text, slices[at]))
  const [first, ...others] = messages
  if (key === undefined || first === undefined) return messages
  if (others.length > 0) {
    throw new InvalidArgumentError('Idempotency-Key', 'is only for one message: give each its idempotencyKey')
  }
  return [withKey(first, key)]
}

function exact(message: NewMessage<unknown>, text: string, slice: Slice | undefined): NewMessage<string> {
  const body = slice && findMember(text, slice.from, 'body')
  if (!body) throw new InvalidArgumentError('body', 'is missing')
  return { ...message, body: text.slice(body.from, body.to) }
}

function withKey(message: NewMessage<string>, key: string | undefined): NewMessage<string> {
  if (key === undefined) return message
  if (message.idempotencyKey !== undefined && message.idempotencyKey !== key) {
    throw new InvalidArgumentError('Idempotency-Key', 'differs from the idempotencyKey of the message')
  }
  return { ...message, idempotencyKey: key }
}
