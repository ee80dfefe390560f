// Attempts for somebody else, such as the client of a service: nothing here extends them.

import { toWaitMs, type Waiting, waitFor } from '../runtime/wait.ts'
import { askToBegin, type BeginOptions, type BeginTerms, type Begun, toBeginTerms } from './beginning.ts'
import { type Source, unitOf } from './source.ts'

/** As `BeginOptions`; `wait`: for another attempt that is under way. */
export interface LendOptions extends BeginOptions, Waiting {}

/** What became of a `lend`: as of a `begin`, but for the attempt, which is known by its token. */
export type LentAttempt<Result> =
  | {
      readonly status: 'started'
      /** Greater than that of every earlier attempt at the key. */
      readonly token: number
      readonly leaseMs: number
      /** When the lease ends, in milliseconds of the server's clock. */
      readonly expiresAtMs: number
    }
  | Exclude<Begun<Result>, { status: 'started' }>

/** Rejects with the signal's reason, or LeaseLostError when the attempt of that id has been released. */
export async function lendAttempt<Result>(
  source: Source<Result>,
  key: string,
  { fingerprint, id, ...waiting }: LendOptions,
): Promise<LentAttempt<Result>> {
  const named = { ...(fingerprint === undefined ? {} : { fingerprint }), ...(id === undefined ? {} : { id }) }
  const terms = toBeginTerms(key, named)
  let running: LentAttempt<Result> = { status: 'running', retryAfterMs: 0 }
  const settled = await waitFor<LentAttempt<Result>>(
    async () => {
      const lent = await ask(source, terms)
      if (lent.status !== 'running') return { value: lent, recheckMs: 0 }
      running = lent
      return { value: null, recheckMs: lent.retryAfterMs }
    },
    {
      runtime: source.runtime,
      channel: unitOf(source, key).channel,
      waitMs: toWaitMs(waiting),
      signal: waiting.signal,
    },
  )
  return settled ?? running
}

async function ask<Result>(source: Source<Result>, terms: BeginTerms): Promise<LentAttempt<Result>> {
  const answer = await askToBegin(source, terms)
  if (answer.status !== 'started') return answer
  const { status, token, expiresAtMs } = answer
  return { status, token, leaseMs: source.leaseMs, expiresAtMs }
}
