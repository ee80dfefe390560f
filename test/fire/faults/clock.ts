import { setTimeout as sleep } from 'node:timers/promises'
import { between, oneOf } from '../cell.ts'
import type { Deal } from '../terms.ts'
import type { Fault, Scene } from './fault.ts'

const AHEAD = [2, 30, 4000]
/** Of calls that were under way when the clock was set. */
const AROUND_MS = 100

/** The server's clock is set forward, and back again: leases end early once, nothing else may go wrong. */
async function happen({ stage, luck, deal }: Scene): Promise<void> {
  const seconds = oneOf(luck, AHEAD)
  await set(deal, () => stage.setClock?.(seconds))
  await sleep(between(luck, 300, 1500))
  await set(deal, () => stage.setClock?.(0))
  await sleep(between(luck, 300, 900))
}

function set(deal: Deal, act: () => void): Promise<void> {
  return deal.during(
    'leaps',
    async () => {
      act()
      await sleep(AROUND_MS)
    },
    AROUND_MS,
  )
}

export const clock: Fault = { on: ['single'], happen }
