import { setTimeout as sleep } from 'node:timers/promises'
import { between, oneOf } from '../cell.ts'
import type { Fault, Scene } from './fault.ts'

const TIMES = 6
const MOST_MS = 400

/** The network delivers commands a second time, long after their callers have continued. */
async function happen({ stage, luck }: Scene): Promise<void> {
  for (let time = 0; time < TIMES; time++) {
    const proxy = oneOf(luck, stage.proxies)
    proxy.copyLate(between(luck, 5, 40), between(luck, 0, MOST_MS), /evalsha/i)
    await sleep(between(luck, 100, 300))
  }
  for (const proxy of stage.proxies) proxy.copyLate(0, 0)
  await sleep(MOST_MS)
}

export const lateCopies: Fault = { happen }
