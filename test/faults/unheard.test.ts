// A process that may no longer subscribe, next to one that may: it polls, and is not taken for dead.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { type Duration, type Lease, type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { ask, until } from '../servers/ask.ts'
import { startRedis } from '../servers/redis.ts'
import { someOf } from '../proof.ts'

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

test.each(someOf(kinds, 2))(
  'a %s reaches a process that may no longer subscribe, though other waiters exist',
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

test('a waiter that may no longer subscribe keeps its place, and leaves nothing in the line', async () => {
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

/** Of the process that may no longer subscribe, and of another. */
interface Pair {
  unheard: Perilune
  heard: Perilune
  name: string
}
/** Both resolve: the waiter, and the holder that releases. */
type Case = (pair: Pair) => Promise<readonly [wait: () => Promise<unknown>, give: () => Promise<unknown>]>

const waits: [string, Case][] = [
  [
    'a job',
    async ({ unheard, heard, name }) => [
      () => unheard.queue(name).claim({ wait: '20s' }),
      () => heard.queue(name).enqueue('mail', 1),
    ],
  ],
  [
    'a job of a worker',
    async ({ unheard, heard, name }) => [
      () => new Promise<void>((done) => unheard.queue(name).work({ mail: () => done() })),
      () => heard.queue(name).enqueue('mail', 1),
    ],
  ],
  [
    'a job in a partition',
    async ({ unheard, heard, name }) => [
      () => unheard.queue(name, { partitions: 2 }).claim({ wait: '20s' }),
      () => heard.queue(name, { partitions: 2 }).enqueue('mail', 1),
    ],
  ],
  [
    'the result of a job',
    async ({ unheard, heard, name }) => {
      const { id } = await heard.queue(name).enqueue('mail', 1, { resultTtl: '1h' })
      const [job] = await heard.queue(name).claim()
      return [() => unheard.queue(name).jobs.waitForResult(id, { wait: '20s' }), async () => job?.ack('done')]
    },
  ],
  [
    'a message',
    async ({ unheard, heard, name }) => {
      await heard.feed(name).append('old')
      const { next } = await unheard.feed(name).read()
      return [
        () => unheard.feed(name).read({ after: next, wait: '20s' }),
        () => heard.feed(name).append('new'),
      ]
    },
  ],
  [
    'the result of a key',
    async ({ unheard, heard, name }) => {
      const begun = await heard.once(name).begin('key')
      return [
        () => unheard.once(name).run('key', () => 'again', { wait: '20s' }),
        async () => begun.status === 'started' && begun.attempt.complete('done'),
      ]
    },
  ],
  [
    'a cached value',
    async ({ unheard, heard, name }) => {
      let load = (_value: string): void => undefined
      const loading = heard.cache<string>(name).get('key', () => new Promise((resolve) => (load = resolve)))
      return [
        () => unheard.cache<string>(name).get('key', () => 'mine'),
        async () => {
          load('theirs')
          await loading
        },
      ]
    },
  ],
]

test.each(someOf(waits, 2))(
  '%s is acquired soon though the process may no longer subscribe',
  { timeout: 40_000 },
  async (_, of) => {
    const { heard, unheard, name, silence } = await setup()
    const [wait, give] = await of({ heard, unheard, name })
    const waiting = wait()
    await sleep(500)
    await silence()
    await sleep(1500)
    await give()
    const givenAt = performance.now()

    await waiting

    // Half a second until it looks again, and time to spare.
    expect(performance.now() - givenAt).toBeLessThan(1500)
  },
)
