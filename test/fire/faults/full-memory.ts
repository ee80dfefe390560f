import { setTimeout as sleep } from 'node:timers/promises'
import { between } from '../cell.ts'
import { askAll } from '../topologies/topology.ts'
import type { Fault, Scene } from './fault.ts'

/** Servers have no room for anything more, then they have. */
async function happen({ stage, luck, deal }: Scene): Promise<void> {
  await deal.during('trouble', async () => {
    for (let time = 0; time < 2; time++) {
      await askAll(stage.servers, 'CONFIG', 'SET', 'maxmemory', 1)
      await sleep(between(luck, 200, 1500))
      await askAll(stage.servers, 'CONFIG', 'SET', 'maxmemory', 0)
      await sleep(between(luck, 100, 400))
    }
  })
}

export const fullMemory: Fault = { happen }
