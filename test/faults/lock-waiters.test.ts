// Waiters for a lock under faults.

import { randomUUID } from 'node:crypto'
import { Cluster, Redis } from 'ioredis'
import { type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { setup } from '../lock-fixture.ts'
import { LONG, SEED } from '../proof.ts'
import { until, withClient } from '../servers/ask.ts'
import { startProxy } from '../servers/proxy.ts'
import { startRedis } from '../servers/redis.ts'
import { seeded } from '../soak/random.ts'
import { LockProcess } from './lock-processes.ts'

const port = inject('redisPort')
const forever = { wait: '1h' } as const

/** Connections that listen, counted by the server. */
/** Connections that listen; with `named` those of clients with this name. */
async function listeners(at: number, named = ''): Promise<number> {
  const list = String(await withClient(at, (client) => client.client('LIST')))
  const listening = list.split('\n').filter((line) => / (sub|ssub)=[1-9]/.test(line))
  return listening.filter((line) => line.includes(` name=${named}`)).length
}

async function ownPort(): Promise<number> {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  return server.port
}

test('waiters after killed ones are served by the very release that frees the lock', async () => {
  const own = await ownPort()
  const { lock, name, calls } = await setup({ clock: 'real', port: own })
  const held = await lock.acquire()
  const dead = new LockProcess({ port: own, name, waiters: 20 })
  await until('twenty wait', async () => (await lock.inspect()).waiting === 20)
  const alive = lock.acquire(forever)
  await until('one waits behind them', async () => (await lock.inspect()).waiting === 21)
  await until('both processes listen', async () => (await listeners(own)) === 2)
  await dead.kill()
  await until('the server has noticed', async () => (await listeners(own)) === 1)
  calls.length = 0

  await held.release()
  const lease = await alive

  expect(calls).toEqual(['lock/release'])
  expect(await lock.inspect()).toMatchObject({ waiting: 0, holders: [{ token: lease.token }] })
  await lease.release()
})

test('more dead waiters than one call passes over do not keep live waiters from the lock', {
  timeout: 60_000,
}, async () => {
  const own = await ownPort()
  const { lock, name, calls } = await setup({ clock: 'real', port: own })
  const held = await lock.acquire()
  const dead = new LockProcess({ port: own, name, waiters: 1200 })
  await until('they wait', async () => (await lock.inspect()).waiting === 1200)
  const alive = lock.acquire(forever)
  await until('one waits behind them', async () => (await lock.inspect()).waiting === 1201)
  await until('both processes listen', async () => (await listeners(own)) === 2)
  await dead.kill()
  await until('the server has noticed', async () => (await listeners(own)) === 1)
  calls.length = 0

  await held.release()
  await (await alive).release()

  expect(calls).toEqual(['lock/release', 'lock/serve', 'lock/serve', 'lock/release'])
})

test.each([
  ['a hundred readers, whom one call lets in, and one', 100, 1],
  ['a reader, and more than one call passes over', 1, 700],
])(
  'readers after killed ones are let in by the calls that free the lock, after %s',
  { timeout: 60_000 },
  async (_, many, dead) => {
    const own = await ownPort()
    const { lock, name } = await setup({ clock: 'real', port: own })
    const last = await setup({ clock: 'real', port: own, name })
    const held = await lock.acquire()
    const front = Array.from({ length: many }, () => lock.shared.acquire(forever))
    await until('they wait', async () => (await lock.inspect()).waiting === many)
    const killed = new LockProcess({ port: own, name, waiters: dead, reads: true })
    await until('others wait behind them', async () => (await lock.inspect()).waiting === many + dead)
    const back = last.lock.shared.acquire(forever)
    await until('all three processes listen', async () => (await listeners(own)) === 3)
    await killed.kill()
    await until('the server has noticed', async () => (await listeners(own)) === 2)
    await until('the last has looked by itself', async () => last.calls.length === 2)

    const before = performance.now()
    await held.release()
    const leases = await Promise.all([...front, back])

    // It looks by itself after two seconds.
    expect(performance.now() - before).toBeLessThan(1500)
    await Promise.all(leases.map((lease) => lease.release()))
  },
)

test('a waiter whose connections are cut repeatedly gets the lock when it is free', async () => {
  const proxy = await startProxy(port)
  onTestFinished(() => proxy.stop())
  const far = await setup({ clock: 'real', port: proxy.port })
  const { lock } = await setup({ clock: 'real', name: far.name })
  for (let n = 0; n < 5; n++) {
    const held = await lock.acquire(forever)
    const waiting = far.lock.acquire(forever)
    await until('it waits', async () => (await lock.inspect()).waiting === 1)
    proxy.resetAll()
    await held.release()
    await (await waiting).release()
  }
  expect(await lock.inspect()).toMatchObject({ mode: 'free', waiting: 0 })
})

test('a thousand waiters that leave at random leave no ticket, and listen on one connection', {
  timeout: 60_000,
}, async () => {
  const own = await ownPort()
  const { lock } = await setup({ clock: 'real', port: own })
  const held = await lock.acquire()
  const count = LONG ? 1000 : 300
  const random = seeded(SEED)
  const waiters = Array.from({ length: count }, () => new AbortController())
  const settled = Promise.allSettled(
    waiters.map(({ signal }) => lock.run(() => undefined, { ...forever, signal })),
  )
  await until('all wait', async () => (await lock.inspect()).waiting === count)
  expect(await listeners(own)).toBe(1)

  for (const waiter of waiters) if (random() < 0.8) setTimeout(() => waiter.abort(), random() * 50)
  await new Promise((resolve) => setTimeout(resolve, 20))
  await held.release()
  for (const waiter of waiters) if (random() < 0.2) waiter.abort()
  const outcomes = await settled

  expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0)
  await until('there is no waiter', async () => {
    const { waiting, mode } = await lock.inspect()
    return waiting === 0 && mode === 'free'
  })
  expect(await listeners(own)).toBeLessThanOrEqual(1)
})

test('a grant whose letter arrives after its lease is rejected, and the waiter still gets the lock', async () => {
  const proxy = await startProxy(port)
  onTestFinished(() => proxy.stop())
  const far = await setup({ clock: 'real', port: proxy.port, lease: '500ms' })
  const near = await setup({ clock: 'real', name: far.name })
  const held = await near.lock.acquire()
  const waiting = far.lock.acquire(forever)
  await until('it waits', async () => (await near.lock.inspect()).waiting === 1)
  proxy.delay(700)
  await held.release()
  await until('the grant is over', async () => (await near.lock.inspect()).mode === 'free')
  const { token } = await near.lock.inspect()
  await new Promise((resolve) => setTimeout(resolve, 800))
  proxy.delay(0)

  const lease = await waiting

  expect(lease.token).toBeGreaterThan(token ?? Infinity)
  expect(lease.remainingMs).toBeGreaterThan(0)
  await lease.release()
})

test('a waiter that may not subscribe gets the lock by polling', async () => {
  const own = await ownPort()
  await withClient(own, (client) =>
    client.call('ACL', 'SETUSER', 'deaf', 'on', '>secret', '~*', '+@all', '-subscribe', '-ssubscribe'),
  )
  const client = new Redis({ port: own, username: 'deaf', password: 'secret' })
  const redis = perilune(ioredis(client), { namespace: 'lock-test' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  const lock = redis.lock('unheard')
  const held = await lock.acquire()
  const waiting = lock.acquire(forever)
  await until('it waits', async () => (await lock.inspect()).waiting === 1)

  await held.release()

  await (await waiting).release()
})

test('on a cluster, waiters for many locks listen on at most one connection for each master', async () => {
  const { redis, name } = clusterClient()
  const locks = Array.from({ length: 30 }, (_, n) => redis.lock(`${randomUUID()} ${n}`))
  const held = await Promise.all(locks.map((lock) => lock.acquire()))
  const waiting = Promise.all(locks.map((lock) => lock.acquire(forever)))
  await until('all wait', async () => {
    const seen = await Promise.all(locks.map((lock) => lock.inspect()))
    return seen.every((one) => one.waiting === 1)
  })

  const counts = await clusterListeners(name)
  expect(Math.max(...counts)).toBe(1)

  await Promise.all(held.map((lease) => lease.release()))
  await Promise.all((await waiting).map((lease) => lease.release()))
})

test('a set is granted although a waiter for one of its locks was killed', async () => {
  const own = await ownPort()
  const group = randomUUID()
  const { lock, redis, name } = await setup({ clock: 'real', port: own, group })
  const held = await redis.lock(name, { group, lease: '1m', maxHold: '0s' }).acquire()
  const dead = new LockProcess({ port: own, name, waiters: 1, group })
  await until('one waits', async () => (await lock.inspect()).waiting === 1)
  await dead.kill()
  await until('the server has noticed', async () => (await listeners(own)) === 0)
  await held.extend('50ms')
  await until('the lease has ended', async () => held.remainingMs === 0)

  const set = redis.locks([`${name}:a`, name], { group })

  await expect.poll(() => set.tryAcquire()).not.toBeNull()
})

test('on a cluster, too, waiters after killed ones are served by the very release', async () => {
  const [first = 0] = inject('clusterPorts')
  const { redis } = clusterClient()
  const name = randomUUID()
  const lock = redis.lock(name)
  const held = await lock.acquire()
  const dead = new LockProcess({ port: first, cluster: true, name, waiters: 3 })
  await until('three wait', async () => (await lock.inspect()).waiting === 3)
  const alive = lock.acquire(forever)
  await until('one waits behind them', async () => (await lock.inspect()).waiting === 4)
  await until('they listen', async () => Math.max(...(await clusterListeners(name))) > 0)
  await dead.kill()
  await until('the server has noticed', async () => Math.max(...(await clusterListeners(name))) === 0)

  await held.release()

  const lease = await alive
  expect(await lock.inspect()).toMatchObject({ waiting: 0, holders: [{ token: lease.token }] })
  await lease.release()
})

function clusterClient(): { redis: Perilune; name: string } {
  const name = randomUUID()
  const nodes = inject('clusterPorts').map((at) => ({ host: '127.0.0.1', port: at }))
  const client = new Cluster(nodes, { redisOptions: { connectionName: name } })
  const redis = perilune(ioredis(client), { namespace: 'lock-test' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return { redis, name }
}

/** Of each master: others use the same cluster at the same time. */
function clusterListeners(named: string): Promise<number[]> {
  return Promise.all(inject('clusterPorts').map((at) => listeners(at, named)))
}
