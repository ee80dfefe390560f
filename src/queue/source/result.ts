// What a job has come to, as it is stored.

import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import type { Source } from './source.ts'

const MAX_RESULT_BYTES: number = 4 * 1024 * 1024

/** Empty: none. Throws what the codec throws when it cannot hold the result, InvalidArgumentError. */
export function encodeResult(result: unknown, { results }: Pick<Source, 'results'>): string | Uint8Array {
  if (result === undefined) return ''
  const encoded = results.encode(result)
  if (typeof encoded !== 'string' && !(encoded instanceof Uint8Array)) {
    throw new InvalidArgumentError('result', 'must become text or bytes: the codec gave something else')
  }
  if (Buffer.byteLength(encoded) > MAX_RESULT_BYTES) {
    throw new InvalidArgumentError('result', `must be at most ${MAX_RESULT_BYTES} bytes when encoded`)
  }
  return encoded
}
