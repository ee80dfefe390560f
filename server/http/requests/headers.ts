import type { FastifyRequest } from 'fastify'
import { InvalidArgumentError } from 'perilune'

/** The value of a header; undefined if it was not sent. Throws InvalidArgumentError if it was sent twice. */
export function headerOf({ raw }: FastifyRequest, name: string): string | undefined {
  const values = raw.headersDistinct[name.toLowerCase()]
  if (values !== undefined && values.length > 1) throw new InvalidArgumentError(name, 'must be given once')
  return values?.[0]
}
