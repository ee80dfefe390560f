import { setTimeout as sleep } from 'node:timers/promises'
import { between } from '../cell.ts'
import type { Fault, Scene } from './fault.ts'

const TIMES = 5

/** Commands and replies take their time, another one each moment. */
async function happen({ stage, luck, deal }: Scene): Promise<void> {
  await deal.during('trouble', async () => {
    for (let time = 0; time < TIMES; time++) {
      for (const proxy of stage.proxies) proxy.delay(between(luck, 0, 250))
      await sleep(between(luck, 200, 500))
    }
    for (const proxy of stage.proxies) proxy.delay(0)
  })
}

export const delay: Fault = { happen }
