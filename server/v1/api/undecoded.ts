// What is stored and is no JSON, as answers show it.

import { type TProperties, Type } from '@fastify/type-provider-typebox'
import type { Undecodable } from 'perilune'

/** Members of an answer. */
export const undecoded: TProperties = {
  base64: Type.String({ description: 'The bytes that are stored.' }),
  error: Type.String({ description: 'Why they are no JSON.' }),
}

export function encodeUndecoded({ bytes, error }: Undecodable): string {
  return `"base64":"${Buffer.from(bytes).toString('base64')}","error":${JSON.stringify(String(error))}`
}
