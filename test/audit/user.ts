// A process that runs random operations on shared units of all structures until it is killed or stopped.
//   tsx user.ts <port> <namespace> <seed>

import { Redis } from 'ioredis'
import { type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { seeded } from '../soak/random.ts'
import { type Deed, diceOf } from './deed.ts'
import { feedDeeds } from './deeds-of-feeds.ts'
import { leaseDeeds } from './deeds-of-leases.ts'
import { queueDeeds } from './deeds-of-queues.ts'
import { cacheDeeds, collectionDeeds } from './deeds-of-values.ts'

const IN_FLIGHT = 6

const [port, namespace = '', seed] = process.argv.slice(2)
const client = new Redis(Number(port))
const redis: Perilune = perilune(ioredis(client), { namespace, deadline: '2s' })
const dice = diceOf(seeded(Number(seed)))
const deeds: readonly Deed[] = [
  ...leaseDeeds(redis, dice),
  ...feedDeeds(redis, dice),
  ...queueDeeds(redis, dice),
  ...collectionDeeds(redis, dice),
  ...cacheDeeds(redis, dice),
]
let stopped = false

async function live(): Promise<void> {
  while (!stopped) {
    const [name, deed] = dice.oneOf(deeds)
    try {
      await deed()
    } catch (error) {
      // Rejected, lost or late calls are expected here; other errors are not.
      const { code } = error as { code?: string }
      if (code === undefined || ['invalid-argument', 'script-failed'].includes(code))
        process.send?.(`${name}: ${String(error)}`)
    }
  }
}

process.once('message', () => {
  stopped = true
})
process.send?.('begins')
await Promise.all(Array.from({ length: IN_FLIGHT }, live))
await redis.close()
client.disconnect()
process.disconnect()
