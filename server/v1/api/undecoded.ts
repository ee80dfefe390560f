// Stored data that is not JSON, in the form of answers.

import { type TProperties, Type } from '@fastify/type-provider-typebox'
import type { Undecodable } from 'perilune'

/** Members of an answer. */
export const undecoded: TProperties = {
  base64: Type.String({ description: 'The stored bytes.' }),
  error: Type.String({ description: 'Why they are not JSON.' }),
}

export function encodeUndecoded({ bytes, error }: Undecodable): string {
  return `"base64":"${Buffer.from(bytes).toString('base64')}","error":${JSON.stringify(String(error))}`
}
