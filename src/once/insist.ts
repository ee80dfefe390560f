// The last word of work that is over. Whoever could say it again is not there any more, and until the server has heard it the work may be
// done once more: what an outage keeps from it, or a right that is missing for a while, is said again, as long as the instance lasts.

import { LeaseLostError } from '../runtime/errors/errors.ts'
import { isFinal } from '../runtime/errors/outage.ts'
import type { Unit } from '../runtime/connection/unit.ts'

/** Settles as `first` does. `again`: says the same, safe to repeat; `id`: nothing else is said under it. */
export async function insisting<Value>(
  unit: Unit,
  id: string,
  first: Promise<Value>,
  again: () => Promise<unknown>,
): Promise<Value> {
  try {
    return await first
  } catch (error) {
    if (mayPass(error)) tellLater(unit, id, again)
    throw error
  }
}

function tellLater(unit: Unit, id: string, again: () => Promise<unknown>): void {
  const word = { say: untilHeard(again), node: () => unit.node, mayComeLate: false }
  unit.runtime.mailbox.abandoned.add(id, word)
}

/** False where another attempt has begun, or the key was cleared, too. */
function mayPass(error: unknown): boolean {
  return !(error instanceof LeaseLostError) && !isFinal(error)
}

/** Rejects while the store does not take it. What is known is forgotten, for it may be large. */
function untilHeard(again: () => Promise<unknown>): () => Promise<void> {
  let left: typeof again | null = again
  return async () => {
    try {
      await left?.()
    } catch (error) {
      if (mayPass(error)) throw error
    }
    left = null
  }
}
