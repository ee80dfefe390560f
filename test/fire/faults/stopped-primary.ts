import { setTimeout as sleep } from 'node:timers/promises'
import { between } from '../cell.ts'
import type { Fault, Scene } from './fault.ts'

/** How far a replica may be behind on a busy machine. */
const BEHIND_MS = 1000

/** A primary is stopped and replaced, comes back, and accepts writes until it is demoted: all of these are lost. */
async function happen({ stage, luck, deal }: Scene): Promise<void> {
  await deal.during('trouble', () =>
    deal.during('losses', async () => stage.standStill?.(() => sleep(between(luck, 500, 2000))), BEHIND_MS),
  )
}

export const stoppedPrimary: Fault = { on: ['sentinel'], happen }
