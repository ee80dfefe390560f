// Answers that their clients have not taken yet. They lie in the memory of the service, so they have a bound: who has more
// unsent than is left for others gets no further large answer until that is taken, and an answer that nobody takes any of for
// a while, though its share needs the room, is given up with its connection.

import type { ServerResponse } from 'node:http'

/** A share may have as much unsent as is left of this: alone half of it, two a third each. */
const MOST_BYTES = 64 * 1024 * 1024
/** Smaller answers are not counted. */
export const COUNTED_BYTES = 65_536
const PATIENCE_MS = 5000
const LOOK_MS = 250
/** What was seen so long ago still holds. */
const FRESH_MS = 10

interface Answer {
  readonly share: string
  readonly response: ServerResponse
  /** What is still to be handed to the response. */
  readonly rest: () => number
  /** What is not taken of it, as it was last seen. */
  bytes: number
  /** When some of it was last taken. */
  since: number
}

export interface UnsentTerms {
  readonly mostBytes?: number
  /** How long an answer may stand still where its share has no room. */
  readonly patienceMs?: number
}

export class Unsent {
  readonly #answers = new Set<Answer>()
  readonly #byShare = new Map<string, number>()
  readonly #listeners: (() => void)[] = []
  readonly #mostBytes: number
  readonly #patienceMs: number
  #isClosing = false
  #total = 0
  #seenAt = 0
  #timer: NodeJS.Timeout | null = null

  constructor({ mostBytes = MOST_BYTES, patienceMs = PATIENCE_MS }: UnsentTerms = {}) {
    this.#mostBytes = mostBytes
    this.#patienceMs = patienceMs
  }

  /** Of all that are counted. */
  get bytes(): number {
    this.#look()
    return this.#total
  }

  /**
   * `bytes`: of an answer that is about to be written; of a stream 0, it is seen as it comes. `rest`: of one that comes in
   * pieces, what of it has not come yet.
   */
  add(share: string, response: ServerResponse, bytes: number, rest = (): number => 0): void {
    // Its client has left, and nothing will tell of its end any more.
    if (response.closed) return
    const answer = { share, response, rest, bytes, since: performance.now() }
    this.#answers.add(answer)
    this.#count(answer, bytes)
    response.once('close', () => this.#over(answer))
    this.#timer ??= setInterval(() => this.#giveUpStalled(), LOOK_MS).unref()
  }

  hasRoom(share: string): boolean {
    if (this.#answers.size > 0 && performance.now() - this.#seenAt > FRESH_MS) this.#look()
    return (this.#byShare.get(share) ?? 0) < this.#mostBytes - this.#total
  }

  /** From now on nobody waits for answers that stand still, whether there is room or not. */
  close(): void {
    this.#isClosing = true
  }

  /** Called whenever a share may have got room. */
  onRoom(listener: () => void): void {
    this.#listeners.push(listener)
  }

  #over(answer: Answer): void {
    this.#answers.delete(answer)
    this.#count(answer, -answer.bytes)
    if (this.#answers.size === 0 && this.#timer !== null) {
      clearInterval(this.#timer)
      this.#timer = null
    }
    this.#tell()
  }

  #count({ share }: Answer, bytes: number): void {
    this.#total += bytes
    const left = (this.#byShare.get(share) ?? 0) + bytes
    if (left === 0) this.#byShare.delete(share)
    else this.#byShare.set(share, left)
  }

  #look(): void {
    const now = (this.#seenAt = performance.now())
    for (const answer of this.#answers) {
      const { response, rest, bytes } = answer
      // Nothing of it is written before that.
      const left = response.headersSent ? rest() + response.writableLength : bytes
      if (left < bytes || left === 0) answer.since = now
      if (left === bytes) continue
      answer.bytes = left
      this.#count(answer, left - bytes)
    }
  }

  #giveUpStalled(): void {
    this.#look()
    for (const { share, response, since } of this.#answers) {
      const standsStill = this.#seenAt - since > this.#patienceMs
      if (standsStill && (this.#isClosing || !this.hasRoom(share))) response.destroy()
    }
    this.#tell()
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }
}
