// A holder of a lease while the machine was suspended. Its monotonic clock omitted that time, the server's clock did
// not.

import { Redis } from 'ioredis'
import { type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { randomUUID } from 'node:crypto'
import { forkProgram } from '../programs/fork.ts'
import { startProxy } from '../servers/proxy.ts'
import { startRedis } from '../servers/redis.ts'
import type { Order, Seen, Taken } from './suspended-holder.ts'
import { heard } from './worker-process.ts'
import { someOf } from '../proof.ts'

const HOUR_MS = 3_600_000
const PROGRAM = new URL('suspended-holder.ts', import.meta.url)
/** Before the library looks at it for the first time. */
const LATER =
  'globalThis.suspendedMs = 0; const { now } = Date; Date.now = () => now() + globalThis.suspendedMs'
const WALL_CLOCK = `--import=data:text/javascript,${encodeURIComponent(LATER)}`

interface Holder {
  tell(order: Order): Promise<Seen>
}

async function holder(port = inject('redisPort')): Promise<Holder> {
  const child = forkProgram(PROGRAM, [String(port)], { env: { ...process.env, NODE_OPTIONS: WALL_CLOCK } })
  onTestFinished(() => void child.kill('SIGKILL'))
  await heard(child)
  const tell = async (order: Order): Promise<Seen> => {
    const answer = heard(child)
    child.send(order)
    const seen = await answer
    if (typeof seen === 'object' && seen !== null && 'failed' in seen) throw new Error(String(seen.failed))
    return seen as Seen
  }
  return { tell }
}

function instance(): Perilune {
  const client = new Redis(inject('redisPort'))
  const redis = perilune(ioredis(client), { namespace: 'suspended' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return redis
}

/** The leases to hold, and how the server ends each of them, as it would have after an hour. */
const KINDS: Readonly<
  Record<
    Taken,
    {
      prepare?(redis: Perilune, name: string): Promise<unknown>
      end(redis: Perilune, name: string): Promise<unknown>
    }
  >
> = {
  lock: { end: (redis, name) => redis.lock(name).clear() },
  reader: { end: (redis, name) => redis.lock(name).clear() },
  permit: { end: (redis, name) => redis.semaphore(name, { limit: 1 }).clear() },
  set: { end: (redis, name) => redis.lock(`${name} too`).clear() },
  attempt: { end: (redis, name) => redis.once(name).clear('key') },
  claim: {
    prepare: (redis, name) => redis.feed(name).append('a message'),
    end: (redis, name) => redis.feed(name).clear(),
  },
  job: {
    prepare: (redis, name) => redis.queue(name).enqueue('job', {}),
    end: (redis, name) => redis.queue(name).clear(),
  },
}

describe.each(someOf(Object.entries(KINDS), 2))('a holder of a %s', (taken, { prepare, end }) => {
  const kind = taken as Taken

  test('when the machine was suspended beyond its lease does not believe in it, from the first call on', async () => {
    const [redis, name] = [instance(), randomUUID()]
    const { tell } = await holder()
    await prepare?.(redis, name)
    expect(await tell({ does: 'take', kind, name, lease: '1h' })).toMatchObject({ held: true })
    await end(redis, name)

    expect(await tell({ does: 'suspend', ms: HOUR_MS })).toMatchObject({ held: false, remainingMs: 0 })
  })

  test('when the machine was suspended for less has correspondingly less left', async () => {
    const [redis, name] = [instance(), randomUUID()]
    const { tell } = await holder()
    await prepare?.(redis, name)
    await tell({ does: 'take', kind, name, lease: '1h' })

    const { held, remainingMs } = await tell({ does: 'suspend', ms: HOUR_MS / 2 })

    expect(held).toBe(true)
    expect(remainingMs).toBeLessThanOrEqual(HOUR_MS / 2)
  })
})

const KEPT = ['lock', 'reader', 'permit', 'set', 'attempt'] as const

describe.each(someOf(KEPT, 2))('the signal of a %s', (kind) => {
  test('does not abort when the wall clock went forward during the extension, and the server has the lease', async () => {
    const name = randomUUID()
    const { tell } = await holder()
    await tell({ does: 'take', kind, name, lease: '1h' })

    const seen = await tell({ does: 'suspend while it is extended', ms: 2 * HOUR_MS, looks: false })

    expect(seen).toMatchObject({ held: false, aborted: false })
    expect(await tell({ does: 'settle' })).toMatchObject({ held: true, aborted: false })
  })

  test('is asked for again when an earlier extension and the question after it are executed at once', async () => {
    const server = await startRedis()
    const admin = new Redis(server.port)
    onTestFinished(async () => {
      admin.disconnect()
      await server.stop()
    })
    const name = randomUUID()
    const { tell } = await holder(server.port)
    await tell({ does: 'take', kind, name, lease: '1h' })
    await admin.call('CLIENT', 'PAUSE', '200', 'ALL')

    await tell({ does: 'suspend while it is extended', ms: 2 * HOUR_MS, looks: true })

    expect(await tell({ does: 'settle' })).toMatchObject({ held: true, aborted: false })
  })

  test('aborts after a suspension, once the server has lost the lease', async () => {
    const [redis, name] = [instance(), randomUUID()]
    const { tell } = await holder()
    await tell({ does: 'take', kind, name, lease: '1h' })
    await KINDS[kind].end(redis, name)
    await tell({ does: 'suspend', ms: HOUR_MS })

    expect(await tell({ does: 'settle' })).toMatchObject({ held: false, aborted: true })
  })

  test('aborts after a suspension when no server can be reached', async () => {
    const proxy = await startProxy(inject('redisPort'))
    onTestFinished(() => proxy.stop())
    const name = randomUUID()
    const { tell } = await holder(proxy.port)
    await tell({ does: 'take', kind, name, lease: '1h' })
    proxy.halfOpen()
    await tell({ does: 'suspend', ms: HOUR_MS })

    expect(await tell({ does: 'settle' })).toMatchObject({ held: false, aborted: true })
  })

  test.each([undefined, '0s'] as const)(
    'does not abort when only the clock of the machine was set forward: the server is asked (maxHold %s)',
    async (maxHold) => {
      const name = randomUUID()
      const { tell } = await holder()
      await tell({ does: 'take', kind, name, lease: '1h', ...(maxHold ? { maxHold } : {}) })

      expect(await tell({ does: 'suspend', ms: 2 * HOUR_MS })).toMatchObject({ held: false, aborted: false })

      expect(await tell({ does: 'settle' })).toMatchObject({ held: true, aborted: false })
    },
  )
})

test('a free lock can be acquired at once after a suspension', async () => {
  const [first, second] = [randomUUID(), randomUUID()]
  const { tell } = await holder()
  await tell({ does: 'take', kind: 'lock', name: first, lease: '30s' })
  await tell({ does: 'suspend', ms: HOUR_MS })

  expect(await tell({ does: 'take', kind: 'lock', name: second, lease: '30s' })).toMatchObject({ held: true })
})
