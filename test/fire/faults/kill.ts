import { setTimeout as sleep } from 'node:timers/promises'
import { between } from '../cell.ts'
import type { Fault, Scene } from './fault.ts'

/** How far a replica may be behind on a busy machine. */
const BEHIND_MS = 1000

/**
 * A primary dies: writes acknowledged in its last moments may be lost, unless it comes back itself with all of them.
 */
async function happen({ stage, luck, deal, replicated }: Scene): Promise<void> {
  await sleep(between(luck, 0, 500))
  await deal.during('trouble', async () => {
    if (!replicated) return stage.kill?.(luck)
    await deal.during('losses', async () => stage.kill?.(luck), BEHIND_MS)
  })
  await sleep(between(luck, 300, 900))
}

export const kill: Fault = { on: ['single', 'sentinel', 'cluster'], happen }
