// Detached attempts, for holders outside this process such as the client of a service: this process does not extend
// them.

import { toWaitMs, type Waiting, waitFor } from '../runtime/waiting/wait.ts'
import { type Answered, type BeginOptions, type Begun, toBeginTerms, Wish } from './begin.ts'
import { type OnceSource, unitOf } from './source.ts'

/** As `BeginOptions`; `wait`: how long to wait for another attempt that is under way. */
export interface BeginDetachedOptions extends BeginOptions, Waiting {}

/** The result of `beginDetached`: like that of `begin`, but with a token instead of an attempt. */
export type DetachedAttempt<Result> =
  | {
      readonly status: 'started'
      /** Greater than that of every earlier attempt at the key. */
      readonly token: number
      /** The length of the lease in milliseconds. */
      readonly leaseMs: number
      /** When the lease ends, in milliseconds of the server's clock. */
      readonly expiresAtMs: number
    }
  | Exclude<Begun<Result>, { status: 'started' }>

/** Rejects with the signal's reason, or LeaseLostError when the attempt with this id has been released. */
export async function beginDetached<Result>(
  source: OnceSource<Result>,
  key: string,
  { fingerprint, id, ...waiting }: BeginDetachedOptions,
): Promise<DetachedAttempt<Result>> {
  const named = { ...(fingerprint === undefined ? {} : { fingerprint }), ...(id === undefined ? {} : { id }) }
  const wish = new Wish(source, toBeginTerms(key, named))
  let running: Extract<DetachedAttempt<Result>, { status: 'running' }> = {
    status: 'running',
    retryAfterMs: 0,
  }
  const settled = await wish.untilOver(() =>
    waitFor<Answer<Result>>(
      async () => {
        const answer = await wish.ask()
        if (answer.status !== 'running') return { value: answer, recheckMs: 0 }
        running = answer
        return { value: null, recheckMs: answer.retryAfterMs }
      },
      {
        runtime: source.runtime,
        channel: unitOf(source, key).channel,
        waitMs: toWaitMs(waiting),
        signal: waiting.signal,
        giveBack: (late) => wish.giveBack(late),
      },
    ),
  )
  if (settled?.status !== 'started') return settled ?? running
  const { token, expiresAtMs } = settled.grant
  wish.hasLeased(token)
  return { status: 'started', token, leaseMs: source.leaseMs, expiresAtMs }
}

type Answer<Result> = Exclude<Answered<Result>, { status: 'running' }>
