import { setTimeout as sleep } from 'node:timers/promises'
import { between } from '../cell.ts'
import { askAll } from '../topologies/topology.ts'
import type { Fault, Scene } from './fault.ts'

const TIMES = 10

/** Servers forget their scripts, again and again. */
async function happen({ stage, luck }: Scene): Promise<void> {
  for (let time = 0; time < TIMES; time++) {
    await askAll(await stage.primaries(), 'SCRIPT', 'FLUSH')
    await sleep(between(luck, 30, 250))
  }
}

export const scriptFlush: Fault = { happen }
