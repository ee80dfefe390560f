// A server that rejects writes during a hand-off: a replica that was the primary, a primary without replicas, a user
// whose right to write was taken away. A hand-off that is announced has happened.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { type Duration, type Lease, type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { ask, until } from '../servers/ask.ts'
import { startRedis } from '../servers/redis.ts'

interface Refusal {
  begin(port: number): Promise<unknown>
  end(port: number): Promise<unknown>
}

const refusals: [string, Refusal][] = [
  [
    'has no replica that it must have',
    {
      begin: (port) => ask(port, 'CONFIG', 'SET', 'min-replicas-to-write', 1),
      end: (port) => ask(port, 'CONFIG', 'SET', 'min-replicas-to-write', 0),
    },
  ],
  [
    'has been made a replica',
    {
      begin: (port) => ask(port, 'REPLICAOF', '127.0.0.1', 1),
      end: (port) => ask(port, 'REPLICAOF', 'NO', 'ONE'),
    },
  ],
  [
    'lets the user write no more',
    {
      begin: (port) => ask(port, 'ACL', 'SETUSER', 'app', '-@write'),
      end: (port) => ask(port, 'ACL', 'SETUSER', 'app', '+@all'),
    },
  ],
]

interface Held {
  acquire(options?: { wait: Duration }): Promise<Lease>
  tryAcquire(): Promise<Lease | null>
}

const kinds: [string, (redis: Perilune, name: string) => Held][] = [
  ['lock', (redis, name) => redis.lock(name, { lease: '2s' })],
  ['lock that is waited for to read', (redis, name) => redis.lock(name, { lease: '2s' }).shared],
]

const cases = refusals.flatMap(([why, refusal]) =>
  kinds.map(([what, of]) => [what, why, of, refusal] as const),
)

test.each(cases)('a %s is not reported as granted when the server %s', async (_what, _why, of, refusal) => {
  const { port, open } = await setup()
  const [holder, waiter, third] = [open(), open(), open()]
  const name = randomUUID()
  await useOnce(of, [holder, waiter])
  const held = await holder.lock(name, { lease: '2s' }).acquire()
  let had: Lease | null = null
  const waiting = of(waiter, name)
    .acquire({ wait: '20s' })
    .then((lease) => (had = lease))
  await until('one waits', async () => (await holder.lock(name).inspect()).waiting === 1)

  await refusal.begin(port)
  const released = held.release().catch(() => undefined)
  await sleep(300)
  expect(had).toBeNull()
  await refusal.end(port)

  await released
  const lease = await waiting
  const { holders } = await holder.lock(name).inspect()
  expect(holders.map(({ token }) => token)).toEqual([lease.token])
  expect(await third.lock(name).tryAcquire()).toBeNull()
  await lease.release()
})

/** A process that knows the server's clock, and listens, is granted its whole lease. */
async function useOnce(of: (redis: Perilune, name: string) => Held, processes: Perilune[]): Promise<void> {
  const [holder, waiter] = processes as [Perilune, Perilune]
  const name = randomUUID()
  const held = await holder.lock(name).acquire()
  const waiting = of(waiter, name).acquire({ wait: '20s' })
  await until('one waits', async () => (await holder.lock(name).inspect()).waiting === 1)
  await held.release()
  await (await waiting).release()
}

async function setup(): Promise<{ port: number; open(): Perilune }> {
  const server = await startRedis()
  const { port } = server
  await ask(port, 'ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '&*', '+@all')
  const opened: [Perilune, Redis][] = []
  onTestFinished(async () => {
    await Promise.all(opened.map(([redis]) => redis.close()))
    for (const [, client] of opened) client.disconnect()
    await server.stop()
  })
  const open = (): Perilune => {
    const client = new Redis(port, { username: 'app', password: 'secret' })
    client.on('error', () => undefined)
    const redis = perilune(ioredis(client))
    opened.push([redis, client])
    return redis
  }
  return { port, open }
}
