// Waiters: which permit each gets, in which order, and that none leaves a ticket.

import type { Redis } from 'ioredis'
import { WaitTimeoutError } from 'perilune'
import { expect, onTestFinished, test } from 'vitest'
import { setup } from '../../test/semaphore-fixture.ts'
import { startRedis } from '../../test/servers/redis.ts'

/** A ticket of a process that died while it waited. */
function deadTicket(at: number, weight = 1): string {
  return `dead${at}.1 x 30000 1 ${weight} holder`
}

test('waiters are served in order of arrival', async () => {
  const { semaphore, waiting } = await setup({ limit: 1 })
  const first = await semaphore.acquire()
  const served: number[] = []
  const waiters = [0, 1, 2, 3, 4].map(async (at) => {
    await waiting(at)
    const lease = await semaphore.acquire({ wait: '20s' })
    served.push(at)
    await lease.release()
  })
  await waiting(5)

  await first.release()
  await Promise.all(waiters)

  expect(served).toEqual([0, 1, 2, 3, 4])
})

test('a light ticket does not overtake a heavy one that waits', async () => {
  const { semaphore, waiting } = await setup({ limit: 4 })
  const holders = [await semaphore.acquire({ weight: 2 }), await semaphore.acquire()]
  const served: string[] = []
  const heavy = semaphore.acquire({ weight: 4, wait: '20s' }).then((lease) => {
    served.push('heavy')
    return lease
  })
  await waiting(1)
  const light = semaphore.acquire({ wait: '20s' }).then(() => served.push('light'))
  await waiting(2)

  expect(await semaphore.tryAcquire()).toBe(null)
  for (const holder of holders) {
    expect(served).toEqual([])
    await holder.release()
  }
  await (await heavy).release()
  await light

  expect(served).toEqual(['heavy', 'light'])
})

test('one release serves as many waiters as fit', async () => {
  const { semaphore, waiting } = await setup({ limit: 6 })
  const holder = await semaphore.acquire({ weight: 6 })
  const waiters = [1, 2, 3, 4].map((weight) => semaphore.acquire({ weight, wait: '20s' }))
  waiters[3]?.catch(() => undefined)
  await waiting(4)

  await holder.release()
  await Promise.all(waiters.slice(0, 3))

  expect(await semaphore.inspect()).toMatchObject({ used: 6, waiting: 1, line: [{ weight: 4 }] })
})

test('one release serves a hundred waiters, and the next one asks by itself', async () => {
  const { semaphore, waiting } = await setup({ limit: 250 })
  const holder = await semaphore.acquire({ weight: 250 })
  const waiters = Array.from({ length: 250 }, () => semaphore.acquire({ wait: '25s' }))
  await waiting(250)

  await holder.release()
  const leases = await Promise.all(waiters)

  expect(new Set(leases.map(({ token }) => token)).size).toBe(250)
  expect(await semaphore.inspect()).toMatchObject({ used: 250, waiting: 0 })
})

test('a waiter gets the permit of a silent holder when its lease has ended', async () => {
  const { semaphore, redis, name } = await setup({ limit: 1, clock: 'real' })
  const silent = redis.semaphore(name, { limit: 1, lease: '1s', maxHold: '0s' })
  const holder = await silent.tryAcquire()

  const lease = await semaphore.acquire({ wait: '20s' })

  expect(lease.expiresAtMs).toBeGreaterThan(holder?.expiresAtMs ?? Infinity)
  expect(holder?.remainingMs).toBe(0)
})

test('a waiter that times out gets an error and leaves no ticket', async () => {
  const { semaphore, waiting } = await setup({ limit: 1 })
  await semaphore.acquire()

  await expect(semaphore.acquire()).rejects.toThrow(WaitTimeoutError)
  await expect(semaphore.acquire({ wait: '60ms' })).rejects.toThrow(WaitTimeoutError)

  await waiting(0)
})

test('a thousand waiters that come and leave at random leave no ticket and no permit', {
  timeout: 60_000,
}, async () => {
  const { semaphore, waiting } = await setup({ limit: 3 })
  const holders = [await semaphore.acquire(), await semaphore.acquire({ weight: 2 })]
  const aborters = Array.from({ length: 1000 }, () => new AbortController())
  const waiters = aborters.map(({ signal }, at) =>
    semaphore.acquire({ weight: 1 + (at % 3), wait: '50s', signal }).then((lease) => lease.release()),
  )
  const settled = Promise.allSettled(waiters)
  await waiting(1000)

  const shuffled = aborters.toSorted(() => Math.random() - 0.5)
  for (const aborter of shuffled.slice(0, 900)) {
    aborter.abort(new Error('changed my mind'))
    if (Math.random() < 0.02) await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await Promise.all(holders.map((holder) => holder.release()))
  const outcomes = await settled

  const gone = outcomes.filter(({ status }) => status === 'rejected')
  expect(gone.length).toBeGreaterThan(0)
  expect(gone.length).toBeLessThanOrEqual(900)
  await waiting(0)
  await until(async () => (await semaphore.inspect()).used === 0)
})

test('a thousand waiters share one connection for wake-ups', { timeout: 60_000 }, async () => {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  const { semaphore, client, waiting } = await setup({ limit: 1, port: server.port })
  const subscribers = async (): Promise<number> =>
    String(await client.call('CLIENT', 'LIST', 'TYPE', 'pubsub')).match(/^id=/gm)?.length ?? 0
  const holder = await semaphore.acquire()

  const aborter = new AbortController()
  const waiters = Array.from({ length: 1000 }, () =>
    semaphore.acquire({ wait: '50s', signal: aborter.signal }),
  )
  const settled = Promise.allSettled(waiters)
  await waiting(1000)

  expect(await subscribers()).toBe(1)
  await holder.release()
  await waiters[0]
  aborter.abort()
  await settled
})

test('two waiters of one process that are granted permits together learn of it in one message', async () => {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  const { semaphore, client, waiting } = await setup({ limit: 2, port: server.port })
  const holder = await semaphore.acquire({ weight: 2 })
  const waiters = [2, 1].map((weight) => semaphore.acquire({ weight, wait: '20s' }))
  await waiting(2)
  const heard = await listen(client)

  await holder.release()
  await (await waiters[0])?.release()
  await waiters[1]

  expect(heard[0]).toMatch(/^granted ([^.]+)\.\S+ \d+ \d+ \d+\nfirst \1\.\S+ \d+$/)
})

test('tickets of dead processes are skipped, however many and however heavy', async () => {
  const { semaphore, client, name, calls, clock, waiting } = await setup({ limit: 2 })
  const holder = await semaphore.acquire({ weight: 2 })
  const queue = `semaphore-test:{semaphore:${name}}:queue`
  const waiter = semaphore.acquire({ wait: '20s' })
  await waiting(1)
  const dead = Array.from({ length: 1700 }, (_, at) => [-2000 + at, deadTicket(at, 1 + (at % 4))])
  // At once: a waiter that has time to ask by itself skips tickets, too.
  await client.zadd(queue, ...dead.flat())
  const before = calls.length
  await clock.advance(1)

  await holder.release()
  await waiter

  // Five hundred per call, and the release continues until all are skipped.
  expect(calls.slice(before)).toEqual([
    'semaphore/release',
    ...Array.from({ length: 3 }, () => 'semaphore/serve'),
  ])
  expect(await semaphore.inspect()).toMatchObject({ used: 1, waiting: 0 })
})

/** All messages to any process from now on. */
async function listen(client: Redis): Promise<string[]> {
  const ear = client.duplicate()
  onTestFinished(() => ear.disconnect())
  const heard: string[] = []
  ear.on('pmessage', (_pattern, _channel, message) => heard.push(message))
  await ear.psubscribe('*:wake:*')
  return heard
}

async function until(ready: () => Promise<boolean>): Promise<void> {
  while (!(await ready())) await new Promise((resolve) => setTimeout(resolve, 2))
}
