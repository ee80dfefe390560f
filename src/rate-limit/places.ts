// Takes that hold places. A take without an answer has a token that no caller knows, so no caller can release it. It
// is abandoned in its own call slot, which no other call uses until the server has confirmed that; a late copy of the
// take is rejected then. A take that was retried and denied is abandoned too: its first copy may still be on its way,
// and a denied take is not remembered.

import { abandon, take, type TakeAnswer } from '../generated/rate-limit.ts'
import type { CallId } from '../runtime/calls/call-ids.ts'
import { didNotHappen } from '../runtime/errors/outage.ts'
import type { Trace } from '../runtime/calls/runner.ts'
import type { Unit } from '../runtime/connection/unit.ts'
import type { LimitTerms } from './limits.ts'

/** Rejects as a call does. */
export async function takePlaces(
  unit: Unit,
  cost: number,
  limits: readonly LimitTerms[],
): Promise<TakeAnswer> {
  const { callIds } = unit.runtime
  const slot = callIds.takeSlot(unit.channel)
  const giveBack = (): void => callIds.giveBack(unit.channel, slot)
  const { caller, call } = callIds.next(slot)
  const abandonIt = (): void =>
    abandonTake(unit, { take: Number(call), later: callIds.next(slot), limits, giveBack })
  const trace: Trace = {}
  try {
    const answer = await unit.run(take, { caller, call: Number(call), cost, limits }, trace)
    if (answer.status === 'denied' && trace.repeated) abandonIt()
    else giveBack()
    return answer
  } catch (error) {
    if (didNotHappen(error)) giveBack()
    else abandonIt()
    throw error
  }
}

interface Given {
  /** The number of its call. */
  readonly take: number
  readonly later: CallId
  readonly limits: readonly LimitTerms[]
  giveBack(): void
}

function abandonTake(unit: Unit, { take: number, later: { caller, call }, limits, giveBack }: Given): void {
  const args = { caller, call: Number(call), take: number, limits: limits.filter(holdsPlaces) }
  const say = async (): Promise<void> => {
    await unit.run(abandon, args, { atClose: 'gives back' })
    giveBack()
  }
  unit.lastWord(`${caller} ${call}`, say)
}

export function holdsPlaces({ algorithm }: LimitTerms): boolean {
  return algorithm === 'concurrency'
}
