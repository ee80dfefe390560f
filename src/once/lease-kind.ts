// Extends the attempts of this process: all that share a slot in one call.

import { extend } from '../generated/once.ts'
import type { LeaseKind } from '../runtime/keeper/lease-keeper.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { toRefusals } from '../runtime/calls/script-errors.ts'

/** One kind for all keys, so that their attempts are extended together. `isNamed`: their callers chose the id. */
export function kindOf(runtime: Runtime, isNamed = false): LeaseKind {
  return {
    name: 'once',
    hasOthers: isNamed,
    async extend(leases, trace) {
      const states = leases.map(({ beginning }) => `${beginning}state`)
      const answer = await runtime.runner.run(extend, states, { leases }, trace)
      return { nowMs: answer.nowMs, endsAtMs: answer.leases, refused: toRefusals(answer.refused, extend) }
    },
  }
}
