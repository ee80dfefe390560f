// Doing the work of a key once, whoever else tries at the same time.

import { InvalidArgumentError, WaitTimeoutError } from '../runtime/errors/errors.ts'
import { toWaitMs, type Waiting, waitFor } from '../runtime/waiting/wait.ts'
import type { Attempt } from './attempt.ts'
import { type BeginTerms, type Begun, toBeginTerms, Wish } from './begin.ts'
import { resourceOf, type OnceSource, unitOf } from './source.ts'

export interface RunOptions extends Waiting {
  /** Of the request: the same key with another one is refused. Default: none. At most 512 bytes. */
  fingerprint?: string
}

/** What a task is given. */
export interface TaskContext {
  /** Aborts when the lease is lost, or when the caller's signal does. */
  readonly signal: AbortSignal
  /** Greater than that of every earlier attempt at the key: hand it to what you change. */
  readonly token: number
}

/** The work of a key. */
export type Task<Result> = (context: TaskContext) => Result | Promise<Result>

type Settled<Result> = Exclude<Begun<Result>, { status: 'running' }>

/**
 * Runs the task, or resolves to the result that is there. Throws WaitTimeoutError when another attempt is
 * still under way after `wait`, InvalidArgumentError for another fingerprint, LeaseLostError when the
 * attempt was taken over, and what the task throws. Of a result that cannot be stored it throws why (InvalidArgumentError, or what
 * the codec throws), and from then on ResultNotKeptError, for the work is done.
 */
export async function runOnce<Result>(
  source: OnceSource<Result>,
  key: string,
  task: Task<Result>,
  options: RunOptions,
): Promise<Result> {
  const { fingerprint, signal } = options
  const terms = toBeginTerms(key, fingerprint === undefined ? {} : { fingerprint })
  const begun = await settle(source, terms, options)
  if (begun.status === 'replayed') return begun.result
  if (begun.status === 'conflict') {
    throw new InvalidArgumentError('fingerprint', 'must be that of the request which the key came with first')
  }
  return perform(begun.attempt, task, signal)
}

/** Begins, waiting for the one who is at it. */
async function settle<Result>(
  source: OnceSource<Result>,
  terms: BeginTerms,
  options: RunOptions,
): Promise<Settled<Result>> {
  const unit = unitOf(source, terms.key)
  const wish = new Wish(source, terms)
  const settled = await wish.untilOver(() =>
    waitFor<Settled<Result>>(
      async () => {
        const begun = await wish.begin()
        return begun.status === 'running'
          ? { value: null, recheckMs: begun.retryAfterMs }
          : { value: begun, recheckMs: 0 }
      },
      {
        runtime: source.runtime,
        channel: unit.channel,
        waitMs: toWaitMs(options),
        signal: options.signal,
        giveBack: (late) => wish.giveBack(late),
      },
    ),
  )
  if (settled !== null) return settled
  throw new WaitTimeoutError(resourceOf(source, terms.key), options.wait)
}

/** Its signal is made when the task asks for it: most are over before. */
class Context implements TaskContext {
  readonly token: number
  readonly #attempt: Attempt<unknown>

  constructor(attempt: Attempt<unknown>) {
    this.token = attempt.token
    this.#attempt = attempt
  }

  get signal(): AbortSignal {
    return this.#attempt.signal
  }
}

async function perform<Result>(
  attempt: Attempt<Result>,
  task: Task<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  const context = new Context(attempt)
  if (signal) attempt.heed(signal)
  attempt.begin()
  const result = await orRelease(attempt, async () => task(context))
  await attempt.completeAnyway(result)
  return result
}

/** What the work resolves to. When it throws, the key is free again, so that a retry may run. */
async function orRelease<Value>(
  attempt: Pick<Attempt<unknown>, 'releaseAnyway'>,
  work: () => Promise<Value>,
): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    // What the work threw says more.
    await attempt.releaseAnyway().catch(() => undefined)
    throw error
  }
}
