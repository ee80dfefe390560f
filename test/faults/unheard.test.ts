// A process that may listen no more, beside one that may: it looks by itself, and is not taken for dead.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { type Duration, type Lease, type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { ask, until } from '../servers/ask.ts'
import { startRedis } from '../servers/redis.ts'

interface Held {
  acquire(options: { wait: Duration }): Promise<Lease>
}

const kinds: [string, (redis: Perilune, name: string) => Held][] = [
  ['lock', (redis, name) => redis.lock(name)],
  ['lock that it reads', (redis, name) => redis.lock(name).shared],
  ['semaphore', (redis, name) => redis.semaphore(name, { limit: 1 })],
]

/** `heard` may listen; `unheard` may until `silence`, and again from `forgive` on. */
async function setup(): Promise<{
  heard: Perilune
  unheard: Perilune
  name: string
  silence(): Promise<unknown>
  forgive(): Promise<unknown>
}> {
  const server = await startRedis()
  const rights = (...rules: string[]): Promise<unknown> =>
    ask(server.port, 'ACL', 'SETUSER', 'mute', ...rules)
  await rights('on', '>secret', '~*', '&*', '+@all')
  const clients = [{}, { username: 'mute', password: 'secret' }].map((how) => new Redis(server.port, how))
  const opened = clients.map((client) => perilune(ioredis(client)))
  onTestFinished(async () => {
    await Promise.all(opened.map((redis) => redis.close()))
    for (const client of clients) client.disconnect()
    await server.stop()
  })
  const [heard, unheard] = opened as [Perilune, Perilune]
  return {
    heard,
    unheard,
    name: randomUUID(),
    silence: () => rights('resetchannels'),
    forgive: () => rights('&*'),
  }
}

/** Two that want it again and again, so that it is never free. */
function crowd(held: Held): { stop(): Promise<unknown> } {
  let on = true
  const want = async (): Promise<void> => {
    while (on) {
      const lease = await held.acquire({ wait: '30s' })
      await sleep(10)
      await lease.release()
    }
  }
  const wanting = Promise.all([want(), want()])
  return {
    stop: () => {
      on = false
      return wanting
    },
  }
}

function exclusive(redis: Perilune, name: string, kind: string): Held {
  return kind === 'semaphore' ? redis.semaphore(name, { limit: 1 }) : redis.lock(name)
}

test.each(kinds)(
  'a %s comes to a process that may listen no more, though others who may want it too',
  { timeout: 60_000 },
  async (kind, of) => {
    const { heard, unheard, name, silence, forgive } = await setup()
    await (await of(unheard, name).acquire({ wait: '5s' })).release()
    const others = crowd(exclusive(heard, name, kind))
    await (await of(unheard, name).acquire({ wait: '20s' })).release()

    await silence()
    await sleep(100)
    for (let times = 0; times < 3; times++) {
      await (await of(unheard, name).acquire({ wait: '10s' })).release()
    }
    await forgive()
    await (await of(unheard, name).acquire({ wait: '10s' })).release()

    await others.stop()
  },
)

test('who may listen no more while it waits keeps its place, and leaves nothing in the line', async () => {
  const { heard, unheard, name, silence } = await setup()
  const held = await heard.lock(name).acquire()
  const order: string[] = []
  const take = async (redis: Perilune, who: string): Promise<void> => {
    const lease = await redis.lock(name).acquire({ wait: '30s' })
    order.push(who)
    await lease.release()
  }
  const waiting = async (count: number): Promise<void> =>
    until(`${count} wait`, async () => (await heard.lock(name).inspect()).waiting === count)
  const first = take(unheard, 'first')
  await waiting(1)
  const second = take(heard, 'second')
  await waiting(2)

  await silence()
  await sleep(2500)
  await held.release()
  await Promise.all([first, second])

  expect(order).toEqual(['first', 'second'])
  expect(await heard.lock(name).inspect()).toMatchObject({ mode: 'free', waiting: 0 })
})
