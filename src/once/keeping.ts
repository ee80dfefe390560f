// How the attempts of this process are extended: all that share a slot in one call.

import { extend } from '../generated/once.ts'
import type { LeaseKind } from '../runtime/lease-keeper.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { lost } from './ending.ts'
import { type Source, unitOf } from './source.ts'

const kinds = new WeakMap<Runtime, LeaseKind>()

/** One for each runtime, so that its keeper sees which leases go together. */
export function kind(runtime: Runtime): LeaseKind {
  const known = kinds.get(runtime)
  if (known !== undefined) return known
  const made: LeaseKind = {
    async extend(leases) {
      const keys = leases.map(({ prefix }) => `${prefix}:state`)
      const answer = await runtime.runner.run(extend, keys, {
        leases: leases.map(({ token, leaseMs }) => ({ token, leaseMs })),
      })
      return { nowMs: answer.nowMs, endsAtMs: answer.leases }
    },
  }
  kinds.set(runtime, made)
  return made
}

export interface Extended {
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
  const { endsAtMs } = await kind(source.runtime).extend([{ prefix: unit.prefix, token, leaseMs }])
  const expiresAtMs = endsAtMs[0] ?? 0
  if (expiresAtMs === 0) throw lost(source, key, token)
  return { expiresAtMs }
}
