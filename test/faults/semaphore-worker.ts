// One process that uses a semaphore, perhaps with a wrong clock. It says over its channel what it does.

import { Redis } from 'ioredis'
import { type Lease, perilune, type Semaphore } from 'perilune'
import { ioredis } from 'perilune/ioredis'

export interface WorkerOrder {
  port: number
  name: string
  limit: number
  lease: '300ms' | '30s'
  /** How far its clock is off. */
  skewMs: number
  /** Holds a permit, waits for one, or takes so many one after the other. */
  does: 'hold' | 'wait' | number
}

/** One permit as its holder saw it; instants are microseconds of the machine's monotonic clock. */
export interface Held {
  token: number
  weight: number
  askedUs: number
  fromUs: number
  toUs: number
}

export type Said = { held: { token: number; expiresAtMs: number } } | { waits: true } | { done: Held[] }

const order: WorkerOrder = JSON.parse(process.argv[2] ?? '')
shiftClock(order.skewMs)
process.once('disconnect', () => process.exit(1)) // its parent has died

const client = new Redis(order.port)
const redis = perilune(ioredis(client), { namespace: 'processes' })
await work(redis.semaphore(order.name, { limit: order.limit, lease: order.lease, holder: 'child' }))

async function work(semaphore: Semaphore): Promise<void> {
  if (order.does === 'hold') {
    // A busy machine may take longer than the lease.
    const { token, expiresAtMs } = await semaphore.acquire({ wait: '20s' })
    say({ held: { token, expiresAtMs } })
  } else if (order.does === 'wait') {
    say({ waits: true })
    await semaphore.acquire({ wait: '1h' })
  } else {
    const runs = Array.from({ length: 4 }, (_, at) => take(semaphore, 1 + (at % 2), order.does as number))
    say({ done: (await Promise.all(runs)).flat() })
    await redis.close()
    client.disconnect()
    process.disconnect()
  }
}

async function take(semaphore: Semaphore, weight: number, times: number): Promise<Held[]> {
  const seen: Held[] = []
  for (let at = 0; at < times; at++) {
    const askedUs = nowUs()
    const lease = await semaphore.acquire({ weight, wait: '1m' })
    seen.push(await hold(lease, weight, askedUs))
  }
  return seen
}

async function hold(lease: Lease, weight: number, askedUs: number): Promise<Held> {
  const fromUs = nowUs()
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 3))
  lease.assertHeld()
  const toUs = nowUs()
  await lease.release()
  return { token: lease.token, weight, askedUs, fromUs, toUs }
}

function nowUs(): number {
  return Number(process.hrtime.bigint() / 1000n)
}

function shiftClock(ms: number): void {
  const Right = Date
  globalThis.Date = class extends Right {
    constructor(...args: unknown[]) {
      super(...((args.length === 0 ? [Right.now() + ms] : args) as []))
    }
    static override now(): number {
      return Right.now() + ms
    }
  } as DateConstructor
}

function say(what: Said): void {
  process.send?.(what)
}
