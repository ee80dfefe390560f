import { setTimeout as sleep } from 'node:timers/promises'
import { askAll } from '../topologies/topology.ts'
import type { Fault, Scene } from './fault.ts'

/** On a busy machine the processes of a structure may have begun with nothing by the first. */
const TIMES = 3

/** Servers lose everything, and nothing is said of it: a sabotage, which the checkers must find. */
async function happen({ stage }: Scene): Promise<void> {
  for (let time = 0; time < TIMES; time += 1) {
    await sleep(500)
    await askAll(await stage.primaries(), 'FLUSHALL')
  }
}

/** Not in the table. */
export const emptied: Fault = { on: [], happen }
