// How the loads of this process are extended: all that share a slot in one call.

import { extend } from '../generated/cache.ts'
import type { LeaseKind } from '../runtime/keeper/lease-keeper.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { toRefusals } from '../runtime/calls/script-errors.ts'

/** The same for all caches, so that their loads are extended together. */
export function kindOf(runtime: Runtime): LeaseKind {
  return {
    name: 'cache',
    async extend(leases) {
      const keys = leases.map(({ beginning }) => `${beginning}load`)
      const answer = await runtime.runner.run(extend, keys, { leases })
      return { nowMs: answer.nowMs, endsAtMs: answer.leases, refused: toRefusals(answer.refused, extend) }
    },
  }
}
