// The final call of finished work. Its caller is no longer there to retry, and until the server has accepted it the
// work may be done again. So a call that failed because of an outage, or of a permission that is missing for a while,
// is retried until the instance closes.

import { LeaseLostError } from '../runtime/errors/errors.ts'
import { isFinal } from '../runtime/errors/outage.ts'
import type { Unit } from '../runtime/connection/unit.ts'

/** Settles like `first`. `again` repeats the call safely; `id` identifies this call alone. */
export async function insisting<Value>(
  unit: Unit,
  id: string,
  first: Promise<Value>,
  again: () => Promise<unknown>,
): Promise<Value> {
  try {
    return await first
  } catch (error) {
    if (mayPass(error)) retryLater(unit, id, again)
    throw error
  }
}

function retryLater(unit: Unit, id: string, again: () => Promise<unknown>): void {
  unit.lastWord(id, untilAccepted(again))
}

/** False also when another attempt has begun or the key was cleared. */
function mayPass(error: unknown): boolean {
  return !(error instanceof LeaseLostError) && !isFinal(error)
}

/** Rejects until the store accepts the call. Afterwards the call is dropped, because its result may be large. */
function untilAccepted(again: () => Promise<unknown>): () => Promise<void> {
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
