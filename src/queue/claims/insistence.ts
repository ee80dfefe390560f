// Retries the outcomes of a worker until the server has them: like its acks (see worker/lane.ts), but each by itself.
// All that failed wait for the same pause, so that they share a call again.
//
//   SENT ──no answer, or refused for now──► PAUSE ──over──► sent again
//                                             ├──the lease is over──► given up: the job is lost by then
//                                             └──hurry──► sent once more, and then no more

import { AmbiguousError, LeaseLostError } from '../../runtime/errors/errors.ts'
import { isFinal } from '../../runtime/errors/outage.ts'
import { Retries } from '../../runtime/time/retries.ts'
import { startTimer, type Timer } from '../../runtime/time/timer.ts'
import type { JobAttempt } from './outcomes.ts'

type Held = Pick<JobAttempt, 'endsAt'>

const FIRST_RETRY_MS = 100
const LAST_RETRY_MS = 5000

export class Insistence {
  readonly #onError: (error: unknown) => void
  readonly #retries = new Retries(FIRST_RETRY_MS, LAST_RETRY_MS)
  #isHurried = false
  /** Runs during the pause. */
  #timer: Timer | null = null
  #waiting: (() => void)[] = []

  /** `onError` is called for each failed try except the last. */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  /**
   * Calls `send` until the server has decided, or the lease is over. `inDoubt`: an earlier try may have taken effect.
   * Throws what the last try throws.
   */
  async settle<Answer>(job: Held, send: (inDoubt: boolean) => Promise<Answer>): Promise<Answer> {
    for (let inDoubt = false; ; ) {
      try {
        const answer = await send(inDoubt)
        this.#retries.reset()
        return answer
      } catch (error) {
        inDoubt ||= error instanceof AmbiguousError
        const isDecided = error instanceof LeaseLostError || isFinal(error)
        if (isDecided || this.#isHurried || !(await this.#pause(job, error))) throw error
      }
    }
  }

  /** No time is left: what waits is sent now, and not again. */
  hurry(): void {
    this.#isHurried = true
    this.#resume()
  }

  /** False when the lease is over before another try. */
  async #pause({ endsAt }: Held, error: unknown): Promise<boolean> {
    if (endsAt <= performance.now()) return false
    this.#onError(error)
    await new Promise<void>((resume) => {
      this.#waiting.push(resume)
      this.#timer ??= startTimer(() => this.#resume(), this.#retries.after(error))
    })
    return endsAt > performance.now()
  }

  #resume(): void {
    this.#timer?.cancel()
    this.#timer = null
    for (const resume of this.#waiting.splice(0)) resume()
  }
}
