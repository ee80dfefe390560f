// Processes that die or have wrong clocks, servers that restart, connections that break: the semaphore as
// those see it who are left.

import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Redis } from 'ioredis'
import { LeaseLostError, perilune, type Semaphore } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { forkProgram } from '../programs/fork.ts'
import { lineOf } from '../semaphore-fixture.ts'
import { startRedis } from '../servers/redis.ts'
import type { Held, Said, WorkerOrder } from './semaphore-worker.ts'

const WORKER = new URL('semaphore-worker.ts', import.meta.url)

interface Setup {
  semaphore: Semaphore
  client: Redis
  start(order: Partial<WorkerOrder>): ChildProcess
}

async function setup(port: number, limit: number): Promise<Setup> {
  const client = new Redis(port, { retryStrategy: () => 20, maxRetriesPerRequest: null })
  client.on('error', () => undefined)
  const redis = perilune(ioredis(client), { namespace: 'processes', deadline: '20s' })
  const name = randomUUID()
  const children: ChildProcess[] = []
  onTestFinished(async () => {
    for (const child of children) child.kill('SIGKILL')
    await redis.close()
    client.disconnect()
  })
  const start = (order: Partial<WorkerOrder>): ChildProcess => {
    const whole: WorkerOrder = { port, name, limit, lease: '30s', skewMs: 0, does: 'hold', ...order }
    const child = forkProgram(WORKER, [JSON.stringify(whole)], { stdio: 'inherit' })
    children.push(child)
    return child
  }
  return { semaphore: redis.semaphore(name, { limit, holder: 'here' }), client, start }
}

async function said(child: ChildProcess): Promise<Said> {
  const [what] = await once(child, 'message')
  return what as Said
}

test('the permit of a killed holder comes back after its lease, and not before', async () => {
  const { semaphore, start } = await setup(inject('redisPort'), 1)
  const child = start({ lease: '300ms' })
  await said(child)
  child.kill('SIGKILL')
  await once(child, 'exit')
  const { permits } = await semaphore.inspect()

  const lease = await semaphore.acquire({ wait: '20s' })

  // A token is the server's time of its grant in microseconds.
  const [last] = permits
  expect(lease.token).toBeGreaterThanOrEqual((last?.expiresAtMs ?? 0) * 1000)
})

test('a killed waiter does not delay others: the release itself serves the next waiter', async () => {
  const { semaphore, client, start } = await setup(inject('redisPort'), 1)
  const holder = await semaphore.acquire()
  const child = start({ does: 'wait' })
  await lineOf(semaphore, 1)
  const waiter = semaphore.acquire({ wait: '20s' })
  await lineOf(semaphore, 2)
  const heard = async (): Promise<number> =>
    (await client.pubsub('CHANNELS', 'processes:{semaphore:}:wake:*')).length
  expect(await heard()).toBe(2)
  child.kill('SIGKILL')
  while ((await heard()) > 1) await new Promise((resolve) => setTimeout(resolve, 2))

  await holder.release()

  expect(await semaphore.inspect()).toMatchObject({ waiting: 0, permits: [{ holder: 'here' }] })
  await (await waiter).release()
})

test('the limit holds among processes whose clocks differ by twenty minutes', {
  timeout: 60_000,
}, async () => {
  const { semaphore, start } = await setup(inject('redisPort'), 3)
  const skews = [-600_000, 0, 600_000]

  const children = skews.map((skewMs) => start({ skewMs, does: 60 }))
  const answers = await Promise.all(children.map(said))

  const history = answers.flatMap((answer) => ('done' in answer ? answer.done : []))
  expect(history.length).toBe(3 * 4 * 60)
  expect(faultsOf(history, 3)).toEqual([])
  expect(await semaphore.inspect()).toMatchObject({ used: 0, waiting: 0 })
})

test('the checker of histories finds the faults that it is made for', () => {
  const held = (token: number, fromUs: number, toUs: number, weight = 1): Held => ({
    token,
    weight,
    askedUs: fromUs - 1,
    fromUs,
    toUs,
  })

  expect(faultsOf([held(1, 10, 20), held(2, 15, 25), held(3, 30, 40)], 2)).toEqual([])
  expect(faultsOf([held(1, 10, 20), held(2, 15, 25, 2)], 2)).toEqual(['3 of 2 out at 15'])
  expect(faultsOf([held(1, 10, 20), held(1, 30, 40)], 2)).toEqual(['token 1 twice'])
  expect(faultsOf([held(2, 10, 20), held(1, 30, 40)], 2)).toEqual(['token 1 after 2'])
})

test('permits survive a restart of the server, and so does the line', async () => {
  const server = await startRedis({ aof: 'always' })
  onTestFinished(() => server.stop())
  const { semaphore } = await setup(server.port, 2)
  const holders = [await semaphore.acquire(), await semaphore.acquire()]
  const waiter = semaphore.acquire({ wait: '20s' })
  await lineOf(semaphore, 1)

  await server.kill()
  await server.restart()

  expect(await semaphore.tryAcquire()).toBe(null)
  await holders[0]?.extend('1m')
  await holders[1]?.release()
  expect((await waiter).token).toBeGreaterThan(holders[1]?.token ?? Infinity)
  expect(await semaphore.inspect()).toMatchObject({ used: 2, waiting: 0 })
})

test('a server that loses everything ends the permits, and tokens still rise', async () => {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  const { semaphore } = await setup(server.port, 1)
  const before = await semaphore.acquire()

  await server.kill()
  await server.restart()
  const after = await semaphore.acquire()

  expect(after.token).toBeGreaterThan(before.token)
  await expect(before.release()).rejects.toThrow(LeaseLostError)
})

test('a server that loses its scripts goes unnoticed, even by waiters', async () => {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  const { semaphore, client } = await setup(server.port, 1)
  const holder = await semaphore.acquire()
  const waiter = semaphore.acquire({ wait: '20s' })
  await lineOf(semaphore, 1)

  await client.script('FLUSH')
  await holder.extend()
  await client.script('FLUSH')
  await holder.release()

  await client.script('FLUSH')
  await (await waiter).release()
  expect(await semaphore.inspect()).toMatchObject({ used: 0, waiting: 0 })
})

/** Contradictions to a limit that holds and tokens that are unique and rise in real time. */
function faultsOf(history: readonly Held[], limit: number): string[] {
  return [...tooMuchOut(history, limit), ...wrongTokens(history)]
}

function tooMuchOut(history: readonly Held[], limit: number): string[] {
  const changes = history.flatMap(({ weight, fromUs, toUs }) => [
    { at: fromUs, by: weight },
    { at: toUs, by: -weight },
  ])
  let out = 0
  // An end and a begin in the same microsecond may have been in this order.
  const inOrder = changes.toSorted((one, other) => one.at - other.at || one.by - other.by)
  return inOrder.flatMap(({ at, by }) => {
    out += by
    return out > limit ? [`${out} of ${limit} out at ${at}`] : []
  })
}

function wrongTokens(history: readonly Held[]): string[] {
  const known = new Set<number>()
  let newest = 0
  const ended: Held[] = history.toSorted((one, other) => one.fromUs - other.fromUs)
  return history
    .toSorted((one, other) => one.askedUs - other.askedUs)
    .flatMap(({ token, askedUs }) => {
      // Those that were granted before this one was asked for have smaller tokens.
      for (let first = ended[0]; first !== undefined && first.fromUs < askedUs; first = ended[0]) {
        newest = Math.max(newest, first.token)
        ended.shift()
      }
      const twice = known.has(token)
      known.add(token)
      if (twice) return [`token ${token} twice`]
      return token < newest ? [`token ${token} after ${newest}`] : []
    })
}
