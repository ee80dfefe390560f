// The letters that the server sends to an idle worker: a wake-up to claim, or a job that is already claimed for it
// (lua/shared/queue/idle). Such a job is treated like one from an answer, once an answer has reported the server's
// clock.

import { ExponentialBackoff } from '../../runtime/time/backoff.ts'
import { longestSleepMs } from '../../runtime/subscriptions/ear.ts'
import { pause } from '../../runtime/time/in-time.ts'
import type { Letter, Post } from '../../runtime/subscriptions/mailbox.ts'
import { toListenError } from '../../runtime/calls/script-errors.ts'
import { End, endsAtOf } from '../../runtime/keeper/grant.ts'
import { learnNotifyChannel } from '../../runtime/waiting/notify-channel.ts'
import { type Exchanged, NOTHING_ELSE, type DeliveredJob } from '../claims/exchange.ts'
import type { QueueSource } from '../source/source.ts'

const RECHECKS = { heardMs: 10_000, unheardMs: 500 }

const FIRST_RETRY_MS = 1000
const LAST_RETRY_MS = 10_000

/** A letter that was sent has arrived within this time. */
export const LETTER_MS = 1000

/** A job that was handed off by letter. */
interface HandedJob {
  readonly job: DeliveredJob
  readonly endsAtMs: number
  /** `performance.now()` when it came. */
  readonly receivedAt: number
}

export interface LetterTerms {
  readonly leaseMs: number
  /** There may be jobs: a letter arrived, or one may have been missed. `handed` is null without a job to take now. */
  onLetter(handed: Exchanged | null): void
  /** Whether the server still knows this claim. Rejects when it does not answer. */
  isClaimed(job: DeliveredJob): Promise<boolean>
  /** Letters arrive from now on. */
  onHeard(): void
  onError(error: unknown): void
}

/** The server's clock, as of an answer. */
type Clock = Pick<Exchanged, 'nowMs' | 'askedAt'>

export class Letters {
  readonly #source: QueueSource
  readonly #terms: LetterTerms
  readonly #id: string
  readonly #over = new AbortController()
  readonly #backoff = new ExponentialBackoff(FIRST_RETRY_MS, LAST_RETRY_MS)
  #post: Post | null = null
  /** From the newest answer. */
  #clock: Clock | null = null
  /**
   * Jobs that arrived before an answer reported the server's clock, without which the ends of their leases are
   * unknown.
   */
  readonly #early: HandedJob[] = []
  #isLast = false

  constructor(source: QueueSource, terms: LetterTerms) {
    this.#source = source
    this.#terms = terms
    this.#id = source.unit.runtime.mailbox.newId()
  }

  begin(): void {
    void this.#listen()
  }

  /** The name of the worker on the server. Its lease is part of it, so that the server can hand off jobs by letter. */
  get name(): string {
    return `${this.#id}:${this.#terms.leaseMs}`
  }

  get areHeard(): boolean {
    return this.#post !== null
  }

  /** The longest sleep before polling. */
  get longestSleepMs(): number {
    return longestSleepMs(this.#post, RECHECKS)
  }

  /** Notes the clock of an answer, and returns the jobs that were waiting for it. */
  takeClock(clock: Clock): Exchanged[] {
    this.#clock = clock
    return this.#early.splice(0).map((handed) => toExchanged(handed, clock, this.#terms.leaseMs))
  }

  /** No further answer will report the clock. */
  waitForNoAnswer(): void {
    this.#isLast = true
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
        if (letter === null) continue
        const handed = letter === 'missed' ? null : this.#read(letter)
        const isKnown = handed === null || !this.#mayBeCleared || (await this.#isClaimed(handed))
        this.#terms.onLetter(isKnown ? handed : null)
      } catch (error) {
        if (signal.aborted) return
        this.#post = null
        this.#terms.onError(toListenError(error))
        await pause(this.#backoff.next(), signal).catch(() => undefined)
      }
    }
  }

  /** A letter of before a deletion by this instance may come after the answer to it, on another connection. */
  get #mayBeCleared(): boolean {
    const { runtime, beginning } = this.#source.unit
    return runtime.clearings.isRecent(beginning, LETTER_MS)
  }

  /** Without an answer the job is left to its lease. */
  #isClaimed({ jobs: [job] }: Exchanged): Promise<boolean> {
    return this.#terms.isClaimed(job as DeliveredJob).catch((error: unknown) => {
      this.#terms.onError(error)
      return false
    })
  }

  #read(letter: Letter): Exchanged | null {
    const handed = toHandedJob(letter)
    if (handed === null) return null
    const clock = this.#clock
    // A lease that seems to be over may be of a server whose clock stepped back: the next answer decides.
    if (clock !== null && (this.#isLast || endOf(handed, clock) > performance.now()))
      return toExchanged(handed, clock, this.#terms.leaseMs)
    this.#early.push(handed)
    return null
  }

  async #open(): Promise<Post> {
    if (this.#post !== null) return this.#post
    const { unit } = this.#source
    const { channel } = await learnNotifyChannel(unit)
    this.#post = await unit.runtime.mailbox.expect(channel, this.#id, true)
    // Closed while it was opened.
    if (this.#over.signal.aborted) this.#post.close()
    this.#backoff.reset()
    this.#terms.onHeard()
    return this.#post
  }
}

/** When the lease ends by `performance.now()`, given the server's clock. */
function endOf({ endsAtMs }: HandedJob, { nowMs, askedAt }: Clock): number {
  return endsAtOf(askedAt, endsAtMs - nowMs)
}

/** In the form of an answer to a claim. */
function toExchanged(handed: HandedJob, clock: Clock, leaseMs: number): Exchanged {
  const { job, endsAtMs, receivedAt } = handed
  const { nowMs, askedAt } = clock
  // If the server's clock was set forward since, the lease must not seem longer than it is.
  const end = new End(Math.min(endOf(handed, clock), receivedAt + leaseMs), receivedAt)
  const answer = { nowMs, askedAt, leaseMs, endsAtMs, end, waits: false, recheckMs: 0 }
  return { ...answer, jobs: [job], ...NOTHING_ELSE }
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
