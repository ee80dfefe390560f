// Answers that their clients have not taken yet. They occupy memory of the service, so they have a bound. A share with
// more unsent bytes than are left for others gets no further large answer until some are taken. An answer without
// progress for a while is given up with its connection if its share needs the room.

import type { ServerResponse } from 'node:http'

/** A share may have as many unsent bytes as remain free: alone half of them, two shares a third each. */
const MOST_BYTES = 64 * 1024 * 1024
/** Smaller answers are not included. */
export const COUNTED_BYTES = 65_536
const PATIENCE_MS = 5000
const LOOK_MS = 250
/** A measurement stays valid this long. */
const FRESH_MS = 10

interface Answer {
  readonly share: string
  readonly response: ServerResponse
  /** The part that still has to be passed to the response. */
  readonly rest: () => number
  /** Unsent bytes at the last measurement. */
  bytes: number
  /** Time of the last progress. */
  since: number
}

export interface UnsentTerms {
  readonly mostBytes?: number
  /** How long an answer may stay without progress if its share has no room. */
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

  /** Total of all included answers. */
  get bytes(): number {
    this.#look()
    return this.#total
  }

  /**
   * `bytes`: the size of an answer that is about to be written; 0 for a stream, which is measured as it is written.
   * `rest`: the part of an answer in pieces that has not arrived yet.
   */
  add(share: string, response: ServerResponse, bytes: number, rest = (): number => 0): void {
    // Its client has left, and no event will report its end any more.
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

  /** From here on answers without progress are given up, whether there is room or not. */
  close(): void {
    this.#isClosing = true
  }

  /** The listener is called whenever a share may have got room. */
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
    this.#notify()
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
    this.#notify()
  }

  #notify(): void {
    for (const listener of this.#listeners) listener()
  }
}
