// Collects the body of a Node response while its handler writes it.

import { isUint8Array } from 'node:util/types'

/** The bytes written so far, up to a size limit. */
export class Collected {
  readonly #maxBytes: number
  readonly #chunks: Uint8Array[] = []
  #size = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get isTooLarge(): boolean {
    return this.#size > this.#maxBytes
  }

  /** All bytes written, even beyond the limit. */
  get size(): number {
    return this.#size
  }

  /** Null when more than `maxBytes` were written. */
  get bytes(): Buffer | null {
    return this.isTooLarge ? null : Buffer.concat(this.#chunks)
  }

  /** Keeps the bytes themselves: they must not change. */
  add([chunk, encoding]: readonly [chunk?: unknown, encoding?: unknown, ...rest: unknown[]]): void {
    const bytes = toBytes(chunk, encoding)
    this.#size += bytes.byteLength
    if (this.isTooLarge) this.#chunks.length = 0
    else this.#chunks.push(bytes)
  }
}

/** The bytes of a chunk that `write` or `end` accepts; a callback in its place has none. */
export function toBytes(chunk: unknown, encoding: unknown): Uint8Array {
  if (typeof chunk === 'string') {
    return Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
  }
  return isUint8Array(chunk) ? chunk : new Uint8Array()
}
