// What a request to purge a queue names.

import { badRequest } from '../../http/answers/problems.ts'
import { parseObject } from '../requests/body.ts'

export interface Purge {
  readonly messages: boolean
  readonly subscriptions: boolean
}

const TYPES = new Set<unknown>(['messages', 'subscriptions'])

/** Without a body: everything. Throws a Problem. */
export function readPurge(text: string): Purge {
  if (text === '') return { messages: true, subscriptions: true }
  const { resource_types: types } = parseObject(text)
  if (!Array.isArray(types) || !types.every((type) => TYPES.has(type))) {
    throw badRequest('resource_types must be a list of messages, subscriptions or both.')
  }
  return { messages: types.includes('messages'), subscriptions: types.includes('subscriptions') }
}
