// What the server sends to a worker that waits: a call to come and claim, or a job that is claimed for it already
// (lua/shared/queue/idle).

import { Backoff } from '../../runtime/time/backoff.ts'
import { longestSleepMs } from '../../runtime/subscriptions/hearing.ts'
import { pause } from '../../runtime/time/in-time.ts'
import type { Letter, Post } from '../../runtime/subscriptions/mailbox.ts'
import { toListenError } from '../../runtime/calls/script-errors.ts'
import { learnTold } from '../../runtime/waiting/told.ts'
import type { ToldJob } from '../claims/exchange.ts'
import type { Source } from '../source/source.ts'

const RECHECKS = { heardMs: 10_000, unheardMs: 500 }

const FIRST_RETRY_MS = 1000
const LAST_RETRY_MS = 10_000

/** A job that came by letter. */
export interface HandedJob {
  readonly job: ToldJob
  readonly endsAtMs: number
  /** `performance.now()` when it came. */
  readonly receivedAt: number
}

export interface LetterTerms {
  readonly leaseMs: number
  /** There may be work. Null: a letter says so, or one may have been missed; else the job that came. */
  onLetter(handed: HandedJob | null): void
  /** Letters come from now on. */
  onHeard(): void
  onError(error: unknown): void
}

export class Letters {
  readonly #source: Source
  readonly #terms: LetterTerms
  readonly #id: string
  readonly #over = new AbortController()
  readonly #backoff = new Backoff(FIRST_RETRY_MS, LAST_RETRY_MS)
  #post: Post | null = null

  constructor(source: Source, terms: LetterTerms) {
    this.#source = source
    this.#terms = terms
    this.#id = source.unit.runtime.mailbox.newId()
    void this.#listen()
  }

  /** What the server calls the worker: one that says how long it claims jobs gets them by letter, if it is heard. */
  get name(): string {
    return `${this.#id}:${this.#terms.leaseMs}`
  }

  get areHeard(): boolean {
    return this.#post !== null
  }

  /** How long to sleep at most before looking by itself. */
  get longestSleepMs(): number {
    return longestSleepMs(this.#post, RECHECKS)
  }

  close(): void {
    this.#over.abort()
    this.#post?.close()
  }

  async #listen(): Promise<void> {
    const { signal } = this.#over
    while (!signal.aborted) {
      try {
        const post = await this.#open()
        const letter = await post.next(RECHECKS.heardMs * 10, signal)
        if (letter !== null) this.#terms.onLetter(letter === 'missed' ? null : toHandedJob(letter))
      } catch (error) {
        if (signal.aborted) return
        this.#post = null
        this.#terms.onError(toListenError(error))
        await pause(this.#backoff.next(), signal).catch(() => undefined)
      }
    }
  }

  async #open(): Promise<Post> {
    if (this.#post !== null) return this.#post
    const { unit } = this.#source
    const { channel } = await learnTold(unit)
    this.#post = await unit.runtime.mailbox.expect(channel, this.#id, true)
    // Closed while it was opened.
    if (this.#over.signal.aborted) this.#post.close()
    this.#backoff.reset()
    this.#terms.onHeard()
    return this.#post
  }
}

function toHandedJob({ word, numbers, text, receivedAt }: Letter): HandedJob | null {
  if (word !== 'job') return null
  const [number = 0, token = 0, endsAtMs = 0] = numbers
  const end = text.indexOf('\n')
  const payload = Buffer.from(text.slice(end + 1))
  return {
    job: { number: String(number), token, attempt: 1, name: text.slice(0, end), payload },
    endsAtMs,
    receivedAt,
  }
}
