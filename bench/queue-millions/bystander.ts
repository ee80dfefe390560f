// A process that only pings the server each millisecond, until its parent stops it; then it reports
// how long the pings took.

import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'

const port = Number(process.argv[2])
const client = new Redis(port)
const latenciesMs: number[] = []
let isOver = false
void once(process, 'message').then(() => (isOver = true))
// A bench that fails must not leave it behind.
process.once('disconnect', () => process.exit())
await client.ping()
process.send?.('ready')
while (!isOver) {
  const began = performance.now()
  await client.ping()
  latenciesMs.push(performance.now() - began)
  await sleep(1)
}
client.disconnect()
// Not before it is sent: it is long, and would be cut off.
process.send?.(latenciesMs, () => process.disconnect())
