// A process of the tests of once: runs the task of one key many times at once and tells what it got.
//   tsx once-worker.ts <port> <name> <key> <runs> <lease> [hold]
// With `hold` it begins, says so and does nothing more.

import { Redis } from 'ioredis'
import { type Duration, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'

const [port, name = '', key = '', runs, lease, hold] = process.argv.slice(2)
const client = new Redis(Number(port))
const redis = perilune(ioredis(client), { namespace: 'faults' })
const once = redis.once<string>(name, { lease: lease as Duration })

async function task(): Promise<string> {
  await client.incr(`ran:${name}`)
  await new Promise((resolve) => setTimeout(resolve, 200))
  return `of ${process.pid}`
}

async function runAll(): Promise<void> {
  const results = await Promise.all(
    Array.from({ length: Number(runs) }, () => once.run(key, task, { wait: '20s' })),
  )
  process.send?.(results)
  await redis.close()
  client.disconnect()
  process.disconnect()
}

async function beginAndComplete(): Promise<void> {
  const begun = await once.begin(key)
  if (begun.status !== 'started') throw new Error(begun.status)
  const { attempt } = begun
  process.send?.(attempt.token)
  process.once('message', () => {
    const { aborted } = attempt.signal
    void attempt.complete('late').then(
      () => process.send?.({ aborted, completed: true }),
      (error: Error) => process.send?.({ aborted, error: error.name }),
    )
  })
}

await (hold === undefined ? runAll() : beginAndComplete())
