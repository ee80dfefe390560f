// Answers in pieces. Of what is written to a connection at once Node tells nothing until all of it has gone, which takes a client on
// a slow line long: in pieces one sees what has been taken of it. And Node takes a connection for idle once it was given the
// whole answer: a service that closes would cut it. So the end is told when all before it has gone.

import { Readable } from 'node:stream'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'

const PIECE_BYTES = 65_536
const LOOK_MS = 10
/** Mostly all has gone in a few turns of the event loop. */
const TURNS = 5
const NOTHING = new Uint8Array()

type Texts = AsyncIterable<string, void, undefined>

export class AnswerPieces extends Readable {
  readonly #texts: AsyncIterator<string, void, undefined> | null
  /** How many bytes whoever reads this has not passed on yet. */
  notGone: () => number = () => 0
  /** Of all; null: nobody knows. */
  readonly bytes: number | null
  /** Of what comes now, what has not been handed on. */
  #rest: Uint8Array = NOTHING
  /** What comes behind it. */
  readonly #parts: Uint8Array[]
  #bytesOfParts: number

  private constructor(texts: Texts | null, parts: readonly Uint8Array[]) {
    super({ highWaterMark: PIECE_BYTES })
    this.#texts = texts === null ? null : texts[Symbol.asyncIterator]()
    this.#parts = [...parts]
    this.#bytesOfParts = parts.reduce((sum, { length }) => sum + length, 0)
    this.bytes = texts === null ? this.#bytesOfParts : null
  }

  /** Of what these hold together. */
  static ofBytes(...parts: readonly Uint8Array[]): AnswerPieces {
    return new AnswerPieces(null, parts)
  }

  /** Each text is asked for when those before it have been handed on. */
  static ofTexts(texts: Texts): AnswerPieces {
    return new AnswerPieces(texts, [])
  }

  /** Bytes that are there and have not been handed on. */
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

  /** Nobody waits for it: their source may be in the middle of a wait. */
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
