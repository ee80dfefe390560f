// One of several processes that set the same recurring jobs repeatedly and work on them, perhaps with a wrong clock. It
// writes its actions to a list next to the queue.

import { Redis } from 'ioredis'
import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'

export interface WorkerOrder {
  port: number
  name: string
  workers: number
  /** How far its clock is off. */
  skewMs: number
}

const order: WorkerOrder = JSON.parse(process.argv[2] ?? '')
const realNow = Date.now
Date.now = () => realNow() + order.skewMs
process.once('disconnect', () => process.exit(1)) // its parent has died

const client = new Redis(order.port)
const redis = perilune(ioredis(client), { namespace: 'processes' })
const queue = redis.queue<Record<string, string>>(order.name)

for (let at = 0; at < order.workers; at += 1) {
  queue.work(({ id, attempt }) => client.rpush(`processes:did:${order.name}`, `${id} ${attempt}`), {
    concurrency: 1,
    lease: '5s',
  })
}
// However slow the machine is, no run is passed over.
const what = { name: 'n', payload: 'p', missed: { upTo: 1000 } } as const
for (;;) {
  await Promise.all([
    queue.recurring.set('interval', { ...what, every: '1s' }),
    queue.recurring.set('cron', { ...what, cron: '* * * * * *' }),
  ])
  await new Promise((resolve) => setTimeout(resolve, 20))
}
