import { setTimeout as sleep } from 'node:timers/promises'
import { between } from '../cell.ts'
import type { Fault, Scene } from './fault.ts'

/** Of calls that were under way when the copy was made. */
const AROUND_MS = 500

/** An older copy of the data is put back: writes acknowledged since are lost, and the loss must be detected. */
async function happen({ stage, luck, deal }: Scene): Promise<void> {
  await deal.during('trouble', () =>
    deal.during('losses', async () => stage.restore?.(() => sleep(between(luck, 300, 1500))), AROUND_MS),
  )
  await sleep(500)
}

export const restore: Fault = { on: ['single'], happen }
