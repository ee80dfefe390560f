import { setTimeout as sleep } from 'node:timers/promises'
import { between, oneOf } from '../cell.ts'
import { askAll } from '../topologies/topology.ts'
import type { Fault, Scene } from './fault.ts'

/** The right that is taken away, and how it is given back. */
const RIGHTS = [
  ['-@write', '+@all'],
  ['-evalsha', '+@all'],
  ['-hset', '+@all'],
  ['-zadd', '+@all'],
  ['-publish', '+@all'],
  ['resetkeys', 'allkeys'],
  ['resetchannels', 'allchannels'],
] as const

/** The user of the clients may do less, in the middle of it, and then as much as before. */
async function happen({ stage, luck, deal }: Scene): Promise<void> {
  await deal.during('trouble', async () => {
    for (let time = 0; time < 3; time++) {
      const [taken, given] = oneOf(luck, RIGHTS)
      await askAll(stage.servers, 'ACL', 'SETUSER', 'default', taken)
      await sleep(between(luck, 100, 800))
      await askAll(stage.servers, 'ACL', 'SETUSER', 'default', given)
      await sleep(between(luck, 50, 300))
    }
  })
}

export const rights: Fault = { happen }
