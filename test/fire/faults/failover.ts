import { setTimeout as sleep } from 'node:timers/promises'
import { between } from '../cell.ts'
import type { Fault, Scene } from './fault.ts'

/** A planned one: nothing that was acknowledged is lost. */
async function happen({ stage, luck, deal }: Scene): Promise<void> {
  await sleep(between(luck, 0, 500))
  await deal.during('trouble', async () => stage.switchover?.(luck))
  await sleep(between(luck, 300, 900))
}

export const failover: Fault = { on: ['one-address', 'sentinel', 'cluster'], happen }
