import { setTimeout as sleep } from 'node:timers/promises'
import { askAll } from '../topologies/topology.ts'
import type { Fault, Scene } from './fault.ts'

/** Servers lose everything, and nothing is said of it: a sabotage, which the checkers must find. */
async function happen({ stage }: Scene): Promise<void> {
  await sleep(500)
  await askAll(await stage.primaries(), 'FLUSHALL')
}

/** Not in the table. */
export const emptied: Fault = { on: [], happen }
