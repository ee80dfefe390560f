// What a semaphore asks of its server: which keys and commands, how much work a call, and what still works
// when memory is full.

import { once } from 'node:events'
import { Redis } from 'ioredis'
import { perilune, type Semaphore } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, onTestFinished, test } from 'vitest'
import contract from '../../lua/contract.json' with { type: 'json' }
import { lineOf } from '../semaphore-fixture.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'

interface Setup {
  server: RedisServer
  client: Redis
  semaphore: Semaphore
}

async function setup(limit: number): Promise<Setup> {
  const server = await startRedis({ args: ['--maxmemory-policy', 'noeviction'] })
  const client = new Redis(server.port)
  const redis = perilune(ioredis(client), { namespace: 'shop', deadline: '20s' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
    await server.stop()
  })
  await redis.preload()
  return { server, client, semaphore: redis.semaphore('s', { limit }) }
}

/** Uses every operation once at least. */
async function everything(semaphore: Semaphore): Promise<void> {
  const first = await semaphore.acquire({ weight: 2 })
  const waiter = semaphore.acquire({ wait: '10s' })
  await lineOf(semaphore, 1)
  await expect(semaphore.acquire({ wait: '20ms' })).rejects.toThrow()
  await first.extend('1m')
  await first.release()
  await (await waiter).release()
  await semaphore.resize(3)
  await semaphore.inspect()
  await semaphore.clear()
}

test('no script touches a key that its call does not declare', async () => {
  const { client, semaphore, server } = await setup(2)
  const monitor = await new Redis(server.port).monitor()
  monitor.on('error', () => undefined)
  onTestFinished(() => monitor.disconnect())
  const seen: { source: string; words: string[] }[] = []
  monitor.on('monitor', (_time: string, words: string[], source: string) => seen.push({ source, words }))

  await everything(semaphore)
  await client.echo('the end')
  while (!seen.some(({ words }) => words[1] === 'the end')) await once(monitor, 'monitor')

  const undeclared: string[] = []
  let declared = new Set<string>()
  for (const { source, words } of seen) {
    if (/^eval(sha)?$/i.test(words[0] ?? '')) declared = new Set(words.slice(3, 3 + Number(words[2])))
    const touched = source === 'lua' ? words.slice(1).filter((word) => word.startsWith('shop:')) : []
    undeclared.push(...touched.filter((key) => !declared.has(key) && !key.includes(':wake')))
  }
  expect(undeclared).toEqual([])
  expect(seen.filter(({ source }) => source === 'lua').length).toBeGreaterThan(40)
})

test('a user with the rule of the semaphore can do everything that a semaphore does', async () => {
  const { client, server } = await setup(2)
  const rule = contract.structures.semaphore.acl.replaceAll('<namespace>', 'shop')
  await client.call('ACL', 'SETUSER', 'sema', 'on', '>secret', ...rule.split(' '))
  const user = new Redis({ port: server.port, username: 'sema', password: 'secret' })
  user.on('error', () => undefined)
  const redis = perilune(ioredis(user), { namespace: 'shop' })
  onTestFinished(async () => {
    await redis.close()
    user.disconnect()
  })

  await everything(redis.semaphore('allowed', { limit: 2 }))

  expect(await client.exists('shop:{semaphore:allowed}:state')).toBe(0)
})

test('a server out of memory refuses permits for certain, and takes them back', async () => {
  const { client, semaphore } = await setup(3)
  const first = await semaphore.acquire()
  const second = await semaphore.acquire()
  const aborter = new AbortController()
  const waiter = semaphore.acquire({ weight: 3, wait: '10s', signal: aborter.signal })
  const aborted = expect(waiter).rejects.toThrow('enough')
  await lineOf(semaphore, 1)
  const before = await semaphore.inspect()
  await client.config('SET', 'maxmemory', '1')

  await expect(semaphore.acquire({ wait: '5s' })).rejects.toMatchObject({ code: 'store-full' })
  await expect(semaphore.resize(9)).rejects.toMatchObject({ code: 'store-full' })
  expect(await semaphore.inspect()).toEqual({ ...before, token: before.token })

  await first.extend('1h')
  aborter.abort(new Error('enough'))
  await aborted
  await lineOf(semaphore, 0)
  await expect(semaphore.tryAcquire()).rejects.toMatchObject({ code: 'store-full' })
  await first.release()
  await second.release()
  expect(await semaphore.inspect()).toMatchObject({ used: 0, waiting: 0 })
  expect(await semaphore.clear()).toBe(true)
})

test('a call costs the same commands however many permits are out', {
  timeout: 60_000,
}, async () => {
  const { client, semaphore } = await setup(1_000_000)
  const cycle = async (): Promise<Record<string, number>> => {
    await client.config('RESETSTAT')
    const lease = await semaphore.tryAcquire()
    await lease?.release()
    return commandsOf(client)
  }
  // What ends first is not what is released, so nobody has to look for the next end.
  await (await semaphore.acquire()).extend('10s')
  const few = await cycle()

  await Promise.all(Array.from({ length: 20_000 }, () => semaphore.tryAcquire()))
  const many = await cycle()

  expect(many).toEqual(few)
})

test('permits of the dead are removed a thousand a call, and never counted free before', async () => {
  const { client, semaphore } = await setup(5000)
  const at = Date.now() + 60_000
  await semaphore.acquire()
  const prefix = 'shop:{semaphore:s}'
  const past = 1_700_000_000_000
  const pipeline = client.pipeline()
  for (let n = 0; n < 2500; n++) {
    pipeline.zadd(`${prefix}:permits`, past, `${past}${n}`)
    pipeline.hset(`${prefix}:ids`, `${past}${n}`, `1 dead.${n} nobody`, `idead.${n}`, `${past}${n}`)
  }
  pipeline.set(`${prefix}:state`, `1 5000 0 2501 ${at * 1000} ${past} ${at} 0`)
  await pipeline.exec()

  expect(await semaphore.tryAcquire({ weight: 4999 })).toBe(null)
  expect(await client.zcard(`${prefix}:permits`)).toBe(1501)
  expect(await semaphore.tryAcquire({ weight: 4999 })).toBe(null)
  expect(await client.zcard(`${prefix}:permits`)).toBe(501)

  expect(await semaphore.tryAcquire({ weight: 4999 })).not.toBe(null)
  expect(await semaphore.inspect()).toMatchObject({ used: 5000, permits: [{}, {}] })
})

/** Calls a command, counted inside scripts too. */
async function commandsOf(client: Redis): Promise<Record<string, number>> {
  const stats = await client.info('commandstats')
  const counts = [...stats.matchAll(/cmdstat_([a-z|]+):calls=(\d+)/g)].map(
    ([, name = '', calls]): [string, number] => [name, Number(calls)],
  )
  return Object.fromEntries(counts.filter(([name]) => !name.startsWith('config') && name !== 'info'))
}
