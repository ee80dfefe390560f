// Acks that the server rejects at once, for some time.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { counting } from '../../../test/counting-driver.ts'
import { until } from '../../../test/queue-fixture.ts'
import { startProxy } from '../../../test/servers/proxy.ts'
import { collectUncaught } from '../../../test/uncaught.ts'

const PERIOD_MS = 10_000
const MOST_TRIES = 10

/** A Redis user whose scripts are rejected between `refuse` and `permit`, and instances that use it. */
async function restrictedUser() {
  const port = inject('redisPort')
  const admin = new Redis(port)
  const username = randomUUID()
  await admin.call('ACL', 'SETUSER', username, 'on', 'nopass', '~*', '&*', '+@all')
  onTestFinished(async () => {
    await admin.call('ACL', 'DELUSER', username)
    admin.disconnect()
  })
  const open = (): { redis: Perilune; calls: string[] } => {
    const client = new Redis({ port, username, password: 'none' })
    const calls: string[] = []
    const redis = perilune(counting(ioredis(client), calls), { namespace: 'refused-acks-test' })
    onTestFinished(async () => {
      await redis.close()
      client.disconnect()
    })
    return { redis, calls }
  }
  const refuse = () => admin.call('ACL', 'SETUSER', username, '-evalsha', '-eval')
  const permit = () => admin.call('ACL', 'SETUSER', username, '+evalsha', '+eval')
  return { open, refuse, permit }
}

/** A worker that has begun `count` jobs; they end when `end` is called. */
async function workerWith(
  redis: Perilune,
  count: number,
  partitions?: number,
  onError: (error: unknown) => void = () => undefined,
) {
  const name = randomUUID()
  const queue = partitions === undefined ? redis.queue(name) : redis.queue(name, { partitions })
  await queue.enqueueMany(Array.from({ length: count }, () => ({ name: 'a', payload: 1 })))
  let [begun, acked, failed] = [0, 0, 0]
  let end = (): void => undefined
  const over = new Promise<void>((resolve) => (end = resolve))
  const errors: unknown[] = []
  const handler = async (): Promise<void> => {
    begun += 1
    await over
  }
  const worker = queue.work(
    { a: handler },
    {
      concurrency: count + 1,
      onSettled: () => (acked += 1),
      onError: (error, job) => {
        errors.push(error)
        if (job !== null) failed += 1
        onError(error)
      },
    },
  )
  await until(() => begun === count)
  return { worker, end, errors, begun: () => begun, acked: () => acked, failed: () => failed }
}

const exchanges = (calls: readonly string[]): number =>
  calls.filter((name) => name.startsWith('queue/ack-and-claim')).length

test('a worker whose acks are rejected tries at most ten times in the first ten seconds, and recovers', async () => {
  const { open, refuse, permit } = await restrictedUser()
  const instances = [open(), open(), open(), open()] as const
  const [one, many, closing, parts] = instances
  const scenes = await Promise.all([
    workerWith(one.redis, 1),
    workerWith(many.redis, 100),
    workerWith(closing.redis, 40),
    workerWith(parts.redis, 40, 2),
  ])

  await refuse()
  const before = instances.map(({ calls }) => exchanges(calls))
  for (const { end } of scenes) end()
  const closed = scenes[2].worker.close()
  await new Promise((resolve) => setTimeout(resolve, PERIOD_MS))
  const tries = instances.map(({ calls }, at) => exchanges(calls) - (before[at] ?? 0))
  const settled = scenes.map(({ acked }) => acked())
  await permit()
  await until(() => scenes.every(({ acked, begun }) => acked() === begun()))
  await closed

  expect(settled).toEqual([0, 0, 0, 0])
  for (const each of tries) expect(each).toBeGreaterThan(1)
  for (const each of tries.slice(0, 3)) expect(each).toBeLessThanOrEqual(MOST_TRIES)
  expect(tries[3]).toBeLessThanOrEqual(2 * MOST_TRIES)
  expect(scenes.map(({ begun }) => begun())).toEqual([1, 100, 40, 40])
  for (const { errors } of scenes) {
    expect(errors).toEqual(errors.map(() => expect.objectContaining({ code: 'forbidden' })))
  }
  await Promise.all(scenes.map(({ worker }) => worker.close()))
})

test('an onError that throws loses no ack and shortens no pause', async () => {
  const uncaught = collectUncaught()
  const { open, refuse, permit } = await restrictedUser()
  const { redis, calls } = open()
  const { worker, end, acked } = await workerWith(redis, 1, undefined, () => {
    throw new Error('of the callback')
  })

  await refuse()
  const before = exchanges(calls)
  end()
  await until(() => uncaught.length >= 4)
  const tries = exchanges(calls) - before
  await permit()
  await until(() => acked() === 1)
  await worker.close()

  // Each of the two calls that may be under way reports its error before there is a pause.
  expect(tries).toBeLessThanOrEqual(uncaught.length + 2)
})

test.each([
  ['one queue', undefined],
  ['partitions', 2],
])('a worker of %s closes in time while its acks are refused, and tells of each', async (_, partitions) => {
  const { open, refuse, permit } = await restrictedUser()
  const { redis } = open()
  const { worker, end, failed, acked } = await workerWith(redis, 3, partitions)

  await refuse()
  end()
  await until(() => worker.atWork === 0)
  await worker.close({ within: '50ms' })

  expect(failed()).toBe(3)
  expect(acked()).toBe(0)
  await permit()
})

/** A worker of three jobs, whose server can be made silent. */
async function workerOfSilent() {
  const proxy = await startProxy(inject('redisPort'))
  const client = new Redis(proxy.port)
  client.on('error', () => undefined)
  const redis = perilune(ioredis(client), { namespace: 'refused-acks-test', deadline: '9m' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
    await proxy.stop()
  })
  return { proxy, ...(await workerWith(redis, 3)) }
}

test('a worker whose acks are not answered closes in time, and reports each', async () => {
  const { proxy, worker, end, errors, failed } = await workerOfSilent()

  proxy.halfOpen()
  end()
  await until(() => worker.atWork === 0)
  await worker.close({ within: '50ms' })

  expect(failed()).toBe(3)
  expect(errors).toContainEqual(expect.objectContaining({ code: 'ambiguous' }))
})

test('a worker whose releases are not answered closes in time, and reports each', async () => {
  const { proxy, worker, errors } = await workerOfSilent()

  proxy.halfOpen()
  await worker.close({ within: '50ms' })

  expect(errors.map((error) => Reflect.get(Object(error), 'code'))).toEqual(Array(3).fill('ambiguous'))
})
