// Waiters that leave while the server cannot be notified at once.

import { Redis } from 'ioredis'
import { AmbiguousError, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { instance } from '../../../test/instance.ts'
import { until } from '../../../test/queue-fixture.ts'
import { silencing } from '../../../test/silencing-driver.ts'

interface Payloads {
  mail: string
}

/** An instance whose claims do not arrive while `isAway`, and another one of the same queue. */
function scene() {
  const { redis, driver, client, name } = instance()
  const outage = { isAway: false }
  const { run } = driver
  driver.run = async (call) => {
    if (outage.isAway && call.script.name.startsWith('queue/ack-and-claim'))
      throw new AmbiguousError('a call')
    return run(call)
  }
  const other = instance().redis
  return { redis, driver, client, outage, name, queue: other.queue<Payloads>(name) }
}

/** Resolves once letters to the process of the waiter arrive. */
async function isHeard(client: Redis, name: string): Promise<void> {
  await until(async () => {
    const [worker] = await client.zrange(`instance-test:{queue:${name}}:idle`, '0', '0')
    if (worker === undefined) return false
    const channels = await client.pubsub('CHANNELS', `*:${worker.replace(/\..*/, '')}`)
    return (channels as string[]).length > 0
  })
}

describe('a waiter that leaves, and cannot notify the server at once', () => {
  test('a closing worker gets no more jobs, and releases those that it got meanwhile', async () => {
    const { redis, client, outage, name, queue } = scene()
    const worker = redis.queue<Payloads>(name).work({ mail: () => undefined }, { lease: '10m' })
    await until(async () => (await queue.inspect()).idle === 1)
    await isHeard(client, name)

    outage.isAway = true
    await worker.close({ within: '0ms' })
    await queue.enqueue('mail', 'meanwhile')
    outage.isAway = false

    await until(async () => (await queue.inspect()).ready === 1)
    await queue.enqueue('mail', 'afterwards')
    expect(await queue.inspect()).toMatchObject({ claimed: 0, ready: 2, idle: 0 })
    const [job] = await queue.claim()
    expect(job).toMatchObject({ payload: 'meanwhile', attempt: 1 })
  })

  test.each([undefined, 2])('a claim by hand gets no more wake-ups, in %s partitions', async (partitions) => {
    const { redis, outage, name } = scene()
    const options = partitions === undefined ? {} : { partitions }
    const same = instance().redis.queue<Payloads>(name, options as { partitions: number })
    const waiting = redis.queue<Payloads>(name, options as { partitions: number }).claim({ wait: '1s' })
    waiting.catch(() => undefined)
    await until(async () => (await same.inspect()).idle === 1)

    outage.isAway = true
    await waiting.catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(await same.inspect()).toMatchObject({ idle: 1 })
    outage.isAway = false

    await until(async () => (await same.inspect()).idle === 0)
  })

  test('many claims by hand leave together', async () => {
    const { redis, driver, outage, queue, name } = scene()
    const waiting = Array.from({ length: 8 }, () => redis.queue<Payloads>(name).claim({ wait: '2s' }))
    await until(async () => (await queue.inspect()).idle === 8)
    outage.isAway = true
    await Promise.allSettled(waiting)
    const { run } = driver
    let [atOnce, most] = [0, 0]
    driver.run = async (call) => {
      atOnce += 1
      most = Math.max(most, atOnce)
      await new Promise((resolve) => setTimeout(resolve, 5))
      return run(call).finally(() => (atOnce -= 1))
    }

    outage.isAway = false

    await until(async () => (await queue.inspect()).idle === 0)
    expect(most).toBeGreaterThan(1)
  })

  test('a failed claim by hand does not wait for a silent server again', async () => {
    const { driver, queue, name } = scene()
    const patient = perilune(driver, { namespace: 'instance-test', deadline: '9m' })
    onTestFinished(() => patient.close())
    const claim = patient.queue<Payloads>(name).claim({ wait: '1s' })
    await until(async () => (await queue.inspect()).idle === 1)
    let calls = 0
    driver.run = async () => {
      calls += 1
      if (calls === 1) throw new AmbiguousError('a call')
      return new Promise(() => undefined)
    }

    await expect(claim).rejects.toThrow()

    expect(calls).toBe(2)
  })
})

test('a claim without jobs ends even if the server does not answer that it has left', {
  timeout: 20_000,
}, async () => {
  const client = new Redis(inject('redisPort'))
  const { driver, silence } = silencing(ioredis(client))
  const redis = perilune(driver, { namespace: 'instance-test', deadline: '1m' })
  onTestFinished(async () => {
    silence.end()
    await redis.close()
    client.disconnect()
  })
  const { name } = instance()
  const queue = redis.queue<Payloads>(name)
  await queue.enqueue('mail', 'first')
  await (await queue.claim())[0]?.ack()

  // Leaving calls are distinguished from claims.
  silence.of = ({ script }) => script.name === 'queue/ack-and-claim'

  expect(await queue.claim({ wait: '300ms' })).toEqual([])
})
