// Answers in pieces. For one large write to a connection Node reports nothing until all of it has left, which takes
// long on a slow line; pieces show how much has been taken. Node also treats a connection as idle once it has the whole
// answer, and a closing service would cut it. So the end is signalled only when everything before it has left.

import { Readable } from 'node:stream'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'

const PIECE_BYTES = 65_536
const LOOK_MS = 10
/** Mostly everything has left within a few turns of the event loop. */
const TURNS = 5
const NOTHING = new Uint8Array()

type Texts = AsyncIterable<string, void, undefined>

export class AnswerPieces extends Readable {
  readonly #texts: AsyncIterator<string, void, undefined> | null
  /** How many bytes the reader of this stream has not passed on yet. */
  notGone: () => number = () => 0
  /** Total bytes; null if unknown. */
  readonly bytes: number | null
  /** The rest of the current piece. */
  #rest: Uint8Array = NOTHING
  /** The following pieces. */
  readonly #parts: Uint8Array[]
  #bytesOfParts: number

  private constructor(texts: Texts | null, parts: readonly Uint8Array[]) {
    super({ highWaterMark: PIECE_BYTES })
    this.#texts = texts === null ? null : texts[Symbol.asyncIterator]()
    this.#parts = [...parts]
    this.#bytesOfParts = parts.reduce((sum, { length }) => sum + length, 0)
    this.bytes = texts === null ? this.#bytesOfParts : null
  }

  /** A stream of these pieces. */
  static ofBytes(...parts: readonly Uint8Array[]): AnswerPieces {
    return new AnswerPieces(null, parts)
  }

  /** Each text is requested when those before it have been passed on. */
  static ofTexts(texts: Texts): AnswerPieces {
    return new AnswerPieces(texts, [])
  }

  /** Bytes in memory that have not been passed on. */
  get left(): number {
    return this.#rest.length + this.#bytesOfParts + this.readableLength
  }

  override _read(): void {
    this.#pushNext().catch((error: unknown) => this.destroy(asError(error)))
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    void this.#endTexts()
    done(error)
  }

  /** Not awaited: their source may be in the middle of a wait. */
  async #endTexts(): Promise<void> {
    await this.#texts?.return?.().catch(() => undefined)
  }

  async #pushNext(): Promise<void> {
    while (this.#rest.length === 0) {
      const next = this.#nextPart() ?? (await this.#nextText())
      if (next === null) return this.#pushEnd()
      this.#rest = next
    }
    const piece = this.#rest.subarray(0, PIECE_BYTES)
    this.#rest = this.#rest.subarray(PIECE_BYTES)
    this.push(piece)
  }

  #nextPart(): Uint8Array | undefined {
    const part = this.#parts.shift()
    this.#bytesOfParts -= part?.length ?? 0
    return part
  }

  async #nextText(): Promise<Uint8Array | null> {
    const next = await this.#texts?.next()
    return next === undefined || next.done === true ? null : Buffer.from(next.value)
  }

  async #pushEnd(): Promise<void> {
    for (let looks = 0; !this.destroyed && this.left + this.notGone() > 0; looks += 1) {
      await (looks < TURNS ? turn() : sleep(LOOK_MS))
    }
    if (!this.destroyed) this.push(null)
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason))
}
