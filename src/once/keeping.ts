// How the attempts of this process are extended: all that share a slot in one call.

import { extend } from '../generated/once.ts'
import type { LeaseKind } from '../runtime/lease-keeper.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { lost } from './ending.ts'
import { type Source, unitOf } from './source.ts'

/** The same for all keys, so that their attempts are extended together. */
export function kindOf(runtime: Runtime): LeaseKind {
  return {
    name: 'once',
    async extend(leases) {
      const states = leases.map(({ beginning }) => `${beginning}state`)
      const answer = await runtime.runner.run(extend, states, { leases })
      return { nowMs: answer.nowMs, endsAtMs: answer.leases }
    },
  }
}

export interface Extended {
  readonly leaseMs: number
  /** When the lease ends, in milliseconds of the server's clock. */
  readonly expiresAtMs: number
}

/** Throws LeaseLostError when the attempt is not under way any more. */
export async function extendAttempt<Result>(
  source: Source<Result>,
  key: string,
  token: number,
  leaseMs: number,
): Promise<Extended> {
  const unit = unitOf(source, key)
  await unit.learn()
  const { endsAtMs } = await kindOf(source.runtime).extend([{ beginning: unit.beginning, token, leaseMs }])
  const expiresAtMs = endsAtMs[0] ?? 0
  if (expiresAtMs === 0) throw lost(source, key, token)
  return { leaseMs, expiresAtMs }
}
