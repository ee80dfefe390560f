// Decodes the parts of a job: a part that the codec cannot read does not spoil the rest of the answer.

import { type Codec, sizeOfEncoded, type Undecodable } from '../../runtime/values/codec.ts'
import type { QueueSource } from './source.ts'

/** A part of a job that the codec could not read. */
export interface UndecodablePart extends Undecodable {
  readonly part: 'payload' | 'result' | 'progress'
}

const NONE: readonly UndecodablePart[] = Object.freeze([])

/** Reads the parts of one job, and collects those that it cannot read. */
export class PartReader {
  readonly #codec: Codec<unknown>
  #undecodable = NONE

  constructor(codec: Codec<unknown>) {
    this.#codec = codec
  }

  /** The parts that could not be read. */
  get undecodable(): readonly UndecodablePart[] {
    return this.#undecodable
  }

  /** Null when the part cannot be read. */
  read(part: UndecodablePart['part'], bytes: Buffer): unknown {
    try {
      return this.#codec.decode(bytes)
    } catch (error) {
      this.#undecodable = [...this.#undecodable, { part, bytes, error }]
      return null
    }
  }

  /** As `read`, and null when there is nothing to read. */
  readAny(part: UndecodablePart['part'], bytes: Buffer | null): unknown {
    return bytes === null || bytes.length === 0 ? null : this.read(part, bytes)
  }
}

// Encodes the results of jobs.

const MAX_RESULT_BYTES: number = 4 * 1024 * 1024

/**
 * Empty when there is no result. Throws InvalidArgumentError, and what the codec throws when it cannot encode the
 * result.
 */
export function encodeResult(
  result: unknown,
  { results }: Pick<QueueSource, 'results'>,
): string | Uint8Array {
  if (result === undefined) return ''
  const encoded = results.encode(result)
  sizeOfEncoded('result', encoded, MAX_RESULT_BYTES)
  return encoded
}
