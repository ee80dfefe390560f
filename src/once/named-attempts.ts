// The attempts of this process whose callers chose their ids. A repeated `begin` gets the object that the first one got:
// two objects would each renew the lease, and what ends by one of them would be believed by the other.

import type { Runtime } from '../runtime/connection/runtime.ts'
import type { Grant } from '../runtime/keeper/grant.ts'
import { Attempt } from './attempt.ts'
import { type OnceSource, unitOf } from './source.ts'

const byRuntime = new WeakMap<Runtime, Map<string, Attempt<unknown>>>()

/** The attempt of this grant, which another call may have begun. */
export function namedAttempt<Result>(source: OnceSource<Result>, key: string, grant: Grant): Attempt<Result> {
  const attempts = attemptsOf(source.runtime)
  // Handles with another codec encode results in another way.
  const name = `${source.codec.name} ${unitOf(source, key).beginning}${grant.token}`
  const known = attempts.get(name) as Attempt<Result> | undefined
  if (known !== undefined) return known
  let isOver = false
  const onOver = (): void => {
    isOver = true
    attempts.delete(name)
  }
  const attempt = new Attempt(source, key, { ...grant, onOver })
  if (!isOver) attempts.set(name, attempt)
  return attempt
}

function attemptsOf(runtime: Runtime): Map<string, Attempt<unknown>> {
  const known = byRuntime.get(runtime)
  if (known !== undefined) return known
  const attempts = new Map<string, Attempt<unknown>>()
  byRuntime.set(runtime, attempts)
  return attempts
}
