// The body of a response of Node, as its handler writes it.

/** What was written so far, up to a size. */
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

  /** Of all that was written, be it too large. */
  get size(): number {
    return this.#size
  }

  /** Null when it is too large. */
  get bytes(): Buffer | null {
    return this.isTooLarge ? null : Buffer.concat(this.#chunks)
  }

  add([chunk, encoding]: readonly [chunk?: unknown, encoding?: unknown, ...rest: unknown[]]): void {
    const bytes = toBytes(chunk, encoding)
    this.#size += bytes.byteLength
    if (this.isTooLarge) this.#chunks.length = 0
    else this.#chunks.push(bytes)
  }
}

/** A chunk as `write` and `end` take it; a callback in its place is none. */
export function toBytes(chunk: unknown, encoding: unknown): Uint8Array {
  if (typeof chunk === 'string') {
    return Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
  }
  return chunk instanceof Uint8Array ? chunk : new Uint8Array()
}
