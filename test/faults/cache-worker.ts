// A process of the tests of the cache.
//   tsx cache-worker.ts <port> <name> read <readers> <reads>   reads one key repeatedly, and reports the values
//   tsx cache-worker.ts <port> <name> level            reads one key from its L1 until it is stopped, and reports in
//                                                      which order it got its values, and how many of them without
//                                                      Redis
//   tsx cache-worker.ts <port> <name> hold <lease>             loads, says so, and ends when it is stopped

import { Redis } from 'ioredis'
import { type Duration, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'

const [port, name = '', what, ...args] = process.argv.slice(2)
const client = new Redis(Number(port))
const redis = perilune(ioredis(client), { namespace: 'faults' })
const think = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const running = new Set<Promise<number>>()

function load(): Promise<number> {
  const run = count().finally(() => running.delete(run))
  running.add(run)
  return run
}

/** Counts the runs, and how many there are at once. */
async function count(): Promise<number> {
  const atOnce = await client.incr(`running:${name}`)
  await client.zadd(`most:${name}`, 'GT', atOnce, 'most')
  const run = await client.incr(`runs:${name}`)
  await think(100)
  await client.decr(`running:${name}`)
  return run
}

async function read(readers: number, reads: number): Promise<void> {
  // A machine that stalls must not look like a server that is away.
  const cache = redis.cache<number>(name, { ttl: '500ms', staleWhileRevalidate: '500ms', storeWithin: '30s' })
  const got = new Set<number>()
  const reader = async (): Promise<void> => {
    for (let n = 0; n < reads; n++) {
      got.add(await cache.get('k', load))
      await think(Math.random() * 40)
    }
  }
  await Promise.all(Array.from({ length: readers }, reader))
  process.send?.([...got])
  // A load in the background would never be counted as ended.
  await Promise.all(running)
  await redis.close()
  client.disconnect()
  process.disconnect()
}

async function hold(lease: string): Promise<void> {
  const cache = redis.cache<string>(name, { lease: lease as Duration })
  await cache.get('k', async () => {
    process.send?.('began')
    await new Promise((resolve) => process.once('message', resolve))
    return 'late'
  })
  process.send?.('ended')
}

async function level(): Promise<void> {
  let copies = 0
  const cache = redis.cache<number>(name, {
    ttl: '1h',
    storeWithin: '30s',
    l1: { count: 10, age: '1h' },
    hooks: { event: (event) => void (copies += Number('from' in event && event.from === 'process')) },
  })
  let ended = false
  process.once('message', () => (ended = true))
  const got: number[] = []
  process.send?.('began')
  for (; !ended; await think(1)) {
    const value = await cache.get('k', () => 0)
    if (value !== got.at(-1)) got.push(value)
  }
  process.send?.({ got, copies })
  await redis.close()
  client.disconnect()
  process.disconnect()
}

if (what === 'level') await level()
else await (what === 'read' ? read(Number(args[0]), Number(args[1])) : hold(args[0] ?? ''))
