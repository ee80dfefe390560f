// Outcomes of a worker that are told again until the server knows them: as its acks (see worker/lane.ts), but each by itself. All
// that could not be told waits for the same pause, so that they travel together again.
//
//   TOLD ──no answer, or refused for now──► PAUSE ──over──► told again
//                                             ├──the lease is over──► given up: it is lost by then
//                                             └──hurry──► told once more, and then no more

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
  /** Runs while nothing is told again. */
  #timer: Timer | null = null
  #waiting: (() => void)[] = []

  /** `onError` is told of each try that failed, but for those that are the last. */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  /**
   * As `send`, which is tried until the server has decided, or the lease is over. It is told whether a try before may have
   * taken effect.
   */
  async tell<Answer>(job: Held, send: (inDoubt: boolean) => Promise<Answer>): Promise<Answer> {
    for (let inDoubt = false; ; ) {
      try {
        const told = await send(inDoubt)
        this.#retries.reset()
        return told
      } catch (error) {
        inDoubt ||= error instanceof AmbiguousError
        const isDecided = error instanceof LeaseLostError || isFinal(error)
        if (isDecided || this.#isHurried || !(await this.#pause(job, error))) throw error
      }
    }
  }

  /** No time is left: what waits is told now, and not again. */
  hurry(): void {
    this.#isHurried = true
    this.#resume()
  }

  /** False where the lease is over before it could be told again. */
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
