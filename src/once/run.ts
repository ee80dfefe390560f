// Does the work of a key once, even when several callers try at the same time.

import { InvalidArgumentError, WaitTimeoutError } from '../runtime/errors/errors.ts'
import { toWaitMs, type Waiting, waitFor } from '../runtime/waiting/wait.ts'
import type { Attempt } from './attempt.ts'
import { type BeginTerms, type Begun, toBeginTerms, Wish } from './begin.ts'
import { resourceOf, type OnceSource, unitOf } from './source.ts'

export interface RunOptions extends Waiting {
  /**
   * The fingerprint of the request, at most 512 bytes, for example from `fingerprintOf`. The same key with another
   * fingerprint is rejected. Default: none.
   */
  fingerprint?: string
}

/** The argument of a task. */
export interface TaskContext {
  /** Aborts when the lease is lost, or when the caller's signal does. */
  readonly signal: AbortSignal
  /**
   * The fencing token, greater than that of every earlier attempt at the key. Pass it to the resources that you
   * change.
   */
  readonly token: number
}

/** The work of a key. */
export type Task<Result> = (context: TaskContext) => Result | Promise<Result>

type Settled<Result> = Exclude<Begun<Result>, { status: 'running' }>

/**
 * Runs the task, or resolves to the stored result. Throws WaitTimeoutError when another attempt is still under way
 * after `wait`, InvalidArgumentError for another fingerprint, LeaseLostError when the attempt was taken over, and the
 * error of the task. For a result that cannot be stored it throws the reason (InvalidArgumentError or the error of
 * the codec); later calls throw ResultNotKeptError, because the work is done.
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
    throw new InvalidArgumentError(
      'fingerprint',
      'must be the fingerprint of the first request with this key',
    )
  }
  return perform(begun.attempt, task, signal)
}

/** Begins an attempt; waits while another one is under way. */
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

/** The signal is created when the task reads it: most tasks never do. */
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

/** Settles like the work. When the work throws, the key is released, so that a retry may run. */
async function orRelease<Value>(
  attempt: Pick<Attempt<unknown>, 'releaseAnyway'>,
  work: () => Promise<Value>,
): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    // The error of the work is more useful than an error of the release.
    await attempt.releaseAnyway().catch(() => undefined)
    throw error
  }
}
