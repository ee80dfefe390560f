import { setTimeout as sleep } from 'node:timers/promises'
import { between, oneOf } from '../cell.ts'
import type { Fault, Scene } from './fault.ts'

/** Connections go dead without an end: all of one server, or those that listen. */
async function happen({ stage, luck, deal }: Scene): Promise<void> {
  await deal.during('trouble', async () => {
    const proxy = oneOf(luck, stage.proxies)
    if (luck() < 0.5) {
      for (const each of stage.proxies) each.halfOpenSubscribers()
      return sleep(1000)
    }
    proxy.halfOpen()
    await sleep(between(luck, 300, 1500))
    // From here on new connections are served; pending calls get no answer.
    proxy.heal()
  })
}

export const halfOpen: Fault = { happen }
