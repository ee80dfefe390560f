// Attempts for somebody else, such as the client of a service: nothing here extends them.

import { begin } from '../generated/once.ts'
import { toWaitMs, type Waiting, waitFor } from '../runtime/wait.ts'
import { type BeginOptions, type BeginTerms, type Begun, toBeginTerms } from './beginning.ts'
import { lost } from './ending.ts'
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
      wakes: source.runtime.wakes,
      channel: unitOf(source, key).channel,
      waitMs: toWaitMs(waiting),
      signal: waiting.signal,
    },
  )
  return settled ?? running
}

async function ask<Result>(
  source: Source<Result>,
  { key, id, fingerprint }: BeginTerms,
): Promise<LentAttempt<Result>> {
  const { codec, leaseMs, keepMs } = source
  const args = { codec: codec.name, id, fingerprint, leaseMs, keepMs }
  const answer = await unitOf(source, key).run(begin, args)
  switch (answer.status) {
    case 'started':
      return { status: 'started', token: answer.token, leaseMs, expiresAtMs: answer.expiresAtMs }
    case 'replayed':
      return { status: 'replayed', result: codec.decode(answer.result), token: answer.token }
    case 'lost':
      throw lost(source, key, answer.token)
    default:
      return answer
  }
}
