// The server did what it was asked and the answer never came. Every call is repeated by the runtime (and
// perhaps once more by the client library), and must still have happened once.

import { Redis } from 'ioredis'
import { AmbiguousError, type Driver, DriverError } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { nodeRedis } from 'perilune/node-redis'
import { createClient } from 'redis'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { lineOf } from '../semaphore-fixture.ts'
import { type Proxy, startProxy } from '../servers/proxy.ts'
import { placeOn } from './uses/place.ts'
import { allUses, type Place, type StructureUse, scriptsOf } from './uses/use.ts'
import { someOf } from '../proof.ts'

type Connect = (port: number) => Promise<{ driver: Driver; disconnect(): void }>

const clients: [string, Connect][] = [
  ['ioredis', (port) => withIoredis(port, true)],
  ['ioredis that does not resend', (port) => withIoredis(port, false)],
  ['node-redis', withNodeRedis],
]

async function withIoredis(port: number, autoResendUnfulfilledCommands: boolean): ReturnType<Connect> {
  const client = new Redis(port, { retryStrategy: () => 20, autoResendUnfulfilledCommands })
  client.on('error', () => undefined)
  return { driver: ioredis(client), disconnect: () => client.disconnect() }
}

async function withNodeRedis(port: number): ReturnType<Connect> {
  const client = createClient({ socket: { host: '127.0.0.1', port, reconnectStrategy: 20 } })
  client.on('error', () => undefined)
  await client.connect()
  return { driver: nodeRedis(client), disconnect: () => client.destroy() }
}

interface Setup {
  place: Place
  proxy: Proxy
}

async function setup(connect: Connect, deadline: '3s' | '500ms' = '3s'): Promise<Setup> {
  const port = inject('redisPort')
  const proxy = await startProxy(port)
  const { driver, disconnect } = await connect(proxy.port)
  onTestFinished(async () => {
    disconnect()
    await proxy.stop()
  })
  const place = await placeOn({ port, driver, deadline, namespace: 'faults' })
  return { place, proxy }
}

const uses = someOf(await allUses(), 3)

const known = new Map<string, Promise<unknown[]>>()

/** The answer of each step without faults. It is determined once. */
function answersOf(use: StructureUse): Promise<unknown[]> {
  const answers = known.get(use.structure) ?? answersWithout(use)
  known.set(use.structure, answers)
  return answers
}

async function answersWithout({ steps }: StructureUse): Promise<unknown[]> {
  const answers: unknown[] = []
  for (const [operation, , run] of steps(await placeOn({ port: inject('redisPort') }))) {
    answers.push([operation, await run()])
  }
  return answers
}

/** The answer of each step when the first call of its operation meets a fault. */
async function answersUnder(
  { structure, steps }: StructureUse,
  { place, proxy }: Setup,
  fault: 'cutReplies' | 'dropRequests',
): Promise<unknown[]> {
  const scripts = scriptsOf(structure)
  const answers: unknown[] = []
  for (const [operation, , run] of steps(place)) {
    proxy[fault](1, new RegExp(scripts.get(operation) ?? expect.fail(`no operation ${operation}`)))
    answers.push([operation, await run()])
    expect(proxy.pendingFaults, `faults that ${operation} has not met`).toBe(0)
  }
  return answers
}

describe.each(clients)('with %s', (_, connect) => {
  test.each(uses)('calls of the $structure whose answer is lost have happened once', async (use) => {
    const set = await setup(connect)

    expect(await answersUnder(use, set, 'cutReplies')).toEqual(await answersOf(use))
  })

  test.each(uses)('calls of the $structure that never reached the server are sent again', async (use) => {
    const set = await setup(connect)

    expect(await answersUnder(use, set, 'dropRequests')).toEqual(await answersOf(use))
  })

  test('without any answer a write is ambiguous and a read is not', async () => {
    const { place, proxy } = await setup(connect, '500ms')
    const feed = place.redis.feed<number>(place.name)
    await feed.inspect()

    proxy.halfOpen()
    const [write, read] = await Promise.allSettled([feed.append(1), feed.read()])

    expect(write).toMatchObject({ status: 'rejected', reason: expect.any(AmbiguousError) })
    expect(read).toMatchObject({ status: 'rejected', reason: expect.any(DriverError) })
    expect(read).toMatchObject({ reason: { code: 'unreachable' } })
  })

  test('calls continue after the connection was reset repeatedly', async () => {
    const { place, proxy } = await setup(connect)
    const feed = place.redis.feed<number>(place.name)
    proxy.resetEach(25)

    const sent = Array.from({ length: 200 }, (_value, n) => n)
    for (const n of sent) await feed.append(n)
    proxy.resetEach(0)
    expect(proxy.connections).toBeGreaterThan(5)

    const { messages } = await feed.read({ limit: 1000 })
    expect(messages.map(({ body }) => body)).toEqual(sent)
  })

  test('a waiter is served although its connections are reset', async () => {
    const { place, proxy } = await setup(connect)
    const semaphore = place.redis.semaphore(place.name, { limit: 1 })
    const holder = await semaphore.acquire()
    const waiter = semaphore.acquire({ wait: '20s' })
    await lineOf(semaphore, 1)

    proxy.resetAll()
    await holder.release()

    await (await waiter).release()
    expect(await semaphore.inspect()).toMatchObject({ used: 0, waiting: 0 })
  })
})
