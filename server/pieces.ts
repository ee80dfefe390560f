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

export class Pieces extends Readable {
  readonly #texts: AsyncIterator<string, void, undefined> | null
  readonly #notGone: () => number
  /** Of what comes now, what has not been handed on. */
  #rest: Uint8Array

  private constructor(texts: Texts | null, first: Uint8Array, notGone: () => number) {
    super({ highWaterMark: PIECE_BYTES })
    this.#texts = texts === null ? null : texts[Symbol.asyncIterator]()
    this.#rest = first
    this.#notGone = notGone
  }

  /** `notGone`: how many bytes whoever reads this has not passed on yet. */
  static ofBytes(bytes: Uint8Array, notGone = (): number => 0): Pieces {
    return new Pieces(null, bytes, notGone)
  }

  /** Each text is asked for when those before it have been handed on. */
  static ofTexts(texts: Texts): Pieces {
    return new Pieces(texts, NOTHING, () => 0)
  }

  /** Bytes that are there and have not been handed on. */
  get left(): number {
    return this.#rest.length + this.readableLength
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
      const next = await this.#texts?.next()
      if (next === undefined || next.done === true) return this.#pushEnd()
      this.#rest = Buffer.from(next.value)
    }
    const piece = this.#rest.subarray(0, PIECE_BYTES)
    this.#rest = this.#rest.subarray(PIECE_BYTES)
    this.push(piece)
  }

  async #pushEnd(): Promise<void> {
    for (let looks = 0; !this.destroyed && this.left + this.#notGone() > 0; looks += 1) {
      await (looks < TURNS ? turn() : sleep(LOOK_MS))
    }
    if (!this.destroyed) this.push(null)
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason))
}
