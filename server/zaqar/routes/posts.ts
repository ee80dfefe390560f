// Messages of a post. Bodies stay the text that was sent.

import type { NewMessage } from 'perilune'
import type { Limits } from '../settings/limits.ts'
import { badRequest } from '../../http/answers/problems.ts'
import { isObject, type JsonObject, parseObject, wholeNumber } from '../requests/body.ts'
import { findElementsOf, findMember, findStart, type Slice } from '../../json/slices.ts'
import type { QueueTerms } from '../requests/metadata.ts'

/** All messages of a request, or a Problem: one invalid message fails them all. */
export function readPosts(text: string, terms: QueueTerms, limits: Limits): NewMessage<string>[] {
  const { messages } = parseObject(text)
  if (!Array.isArray(messages) || messages.length === 0) {
    throw badRequest('The body must have a list of at least one message under "messages".')
  }
  if (messages.length > limits.maxMessagesPerPost) {
    throw badRequest(`A request posts at most ${limits.maxMessagesPerPost} messages.`)
  }
  const slices = slicesOf(text)
  return messages.map((message: unknown, at) => {
    if (!isObject(message)) throw badRequest('A message must be an object.')
    if (!Object.hasOwn(message, 'body')) throw badRequest('A message must have a body.')
    return { body: bodyOf(text, slices[at]), ...lifeOf(message, terms, limits) }
  })
}

function slicesOf(text: string): Slice[] {
  return findElementsOf(text, findStart(text), 'messages')
}

function bodyOf(text: string, message: Slice | undefined): string {
  const body = message && findMember(text, message.from, 'body')
  if (!body) throw badRequest('A message must have a body.')
  return text.slice(body.from, body.to)
}

function lifeOf(
  message: JsonObject,
  terms: QueueTerms,
  limits: Limits,
): Pick<NewMessage<string>, 'ttl' | 'delay'> {
  const { minMessageTtl, maxMessageTtl, maxMessageDelay } = limits
  const ttl = wholeNumber(message, 'ttl', terms.messageTtl, [minMessageTtl, maxMessageTtl])
  if (terms.delay === null) return { ttl: `${ttl}s` }
  const delay = wholeNumber(message, 'delay', terms.delay, [0, maxMessageDelay])
  return { ttl: `${ttl}s`, delay: `${delay}s` }
}
