import { setTimeout as sleep } from 'node:timers/promises'
import { between, oneOf } from '../cell.ts'
import type { Fault, Scene } from './fault.ts'

const TIMES = 8
const MOST = 4

/** Connections end before a request arrives, before its answer does, or all at once. */
async function happen({ stage, luck, deal }: Scene): Promise<void> {
  await deal.during('trouble', async () => {
    for (let time = 0; time < TIMES; time++) {
      const proxy = oneOf(luck, stage.proxies)
      const count = between(luck, 1, MOST)
      const kind = between(luck, 0, 3)
      if (kind === 0) proxy.dropRequests(count, /evalsha/i)
      if (kind === 1) proxy.cutReplies(count, /evalsha/i)
      if (kind === 2) proxy.resetAll()
      if (kind === 3) proxy.resetEach(between(luck, 5, 40))
      await sleep(between(luck, 100, 400))
      proxy.resetEach(0)
    }
    for (const proxy of stage.proxies) proxy.cutReplies(0)
  })
}

export const cut: Fault = { happen }
