// What the lock needs from a server: the keys it declares, the commands of its rule, and nothing else.

import { Redis } from 'ioredis'
import { type Lock, type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, onTestFinished, test } from 'vitest'
import contract from '../../lua/contract.json' with { type: 'json' }
import { until } from '../servers/ask.ts'
import { monitor } from '../servers/monitor.ts'
import { startRedis } from '../servers/redis.ts'

async function everythingALockDoes(redis: Perilune): Promise<void> {
  const lock = redis.lock('room')
  const held = await lock.acquire()
  await held.extend('1m')
  const leaving = new AbortController()
  const quitter = lock.acquire({ wait: '20s', signal: leaving.signal }).catch(() => undefined)
  const readers = [1, 2].map(() => lock.shared.acquire({ wait: '20s' }))
  const barger = redis.lock('room', { fair: false }).run(() => undefined, { wait: '20s' })
  await inLine(lock, 4)
  leaving.abort()
  await quitter
  await inLine(lock, 3)
  await held.release()
  for (const reader of await Promise.all(readers)) {
    await reader.extend('1m')
    await reader.release()
  }
  await barger
  const fenced = redis.fenced<number>('room')
  await fenced.set(1, held.token)
  await fenced.get()
  await quitReading(lock)
  expect(await lock.clear()).toBe(true)
}

/** A reader that gives up waiting. */
async function quitReading(lock: Lock): Promise<void> {
  await using _ = await lock.acquire()
  await lock.shared.acquire({ wait: '20ms' }).catch(() => undefined)
  await inLine(lock, 0)
}

function inLine(lock: Lock, count: number): Promise<void> {
  return until(`${count} wait`, async () => (await lock.inspect()).waiting === count)
}

async function setup(): Promise<{ port: number; admin: Redis; connect(options?: object): Redis }> {
  const server = await startRedis()
  const open: Redis[] = []
  const connect = (options: object = {}): Redis => {
    const client = new Redis({ port: server.port, ...options })
    open.push(client)
    return client
  }
  onTestFinished(async () => {
    for (const client of open) client.disconnect()
    await server.stop()
  })
  return { port: server.port, admin: connect(), connect }
}

test('a user with the rule of the lock can use every operation of a lock, and nothing else', async () => {
  const { admin, connect } = await setup()
  const rule = contract.structures.lock.acl.replaceAll('<namespace>', 'shop')
  await admin.call('ACL', 'SETUSER', 'locks', 'on', '>secret', ...rule.split(' '))
  const user = connect({ username: 'locks', password: 'secret' })
  const redis = perilune(ioredis(user), { namespace: 'shop' })
  onTestFinished(() => redis.close())

  await everythingALockDoes(redis)

  await expect(user.get('shop:{feed:room}:meta')).rejects.toThrow('NOPERM')
  await expect(user.keys('*')).rejects.toThrow('NOPERM')
  const refusals = String(await admin.call('ACL', 'LOG'))
  expect(refusals).not.toContain('{lock:')
})

test('a user who may not load scripts gets an error that says so', async () => {
  const { admin, connect } = await setup()
  await admin.call('ACL', 'SETUSER', 'guest', 'on', '>secret', '~*', '+@all', '-script|load')
  const redis = perilune(ioredis(connect({ username: 'guest', password: 'secret' })))
  onTestFinished(() => redis.close())

  await expect(redis.preload()).rejects.toMatchObject({ code: 'forbidden' })
})

test('no script of the lock touches a key that its call does not declare', async () => {
  const { port, admin, connect } = await setup()
  await admin.ping()
  const watch = await monitor(port)
  onTestFinished(watch.stop)
  const redis = perilune(ioredis(connect()), { namespace: 'watched' })
  onTestFinished(() => redis.close())

  await everythingALockDoes(redis)
  await admin.echo('the end')
  await watch.until('the end')

  let declared = new Set<string>()
  const undeclared: string[] = []
  for (const { source, words } of watch.seen) {
    if (/^eval(sha)?$/i.test(words[0] ?? '')) declared = new Set(words.slice(3, 3 + Number(words[2])))
    else if (source === 'lua') undeclared.push(...touched(words).filter((key) => !declared.has(key)))
  }
  expect(undeclared).toEqual([])
  expect(watch.seen.filter(({ source }) => source === 'lua').length).toBeGreaterThan(50)
})

/** Keys among the words of a command; channels are none. */
function touched(words: readonly string[]): string[] {
  if (/^PUB(?:LISH|SUB)$/.test(words[0]?.toUpperCase() ?? '')) return []
  return words.slice(1).filter((word) => word.startsWith('watched:{'))
}
