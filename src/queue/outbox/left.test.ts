import { Redis } from 'ioredis'
import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { instance } from '../../../test/instance.ts'
import { type Payloads, until } from '../../../test/queue-fixture.ts'
import { silencing } from '../../../test/silencing-driver.ts'

const SOON = { timeout: 20_000 }

test(
  'what is left for a node is brought once it answers, though one of its queues refuses',
  SOON,
  async () => {
    const { redis: other, client, name } = instance()
    const connection = new Redis(inject('redisPort'))
    onTestFinished(() => connection.disconnect())
    const { driver, silence } = silencing(ioredis(connection))
    Object.assign(driver, { placeOf: () => 'node' })
    const redis = perilune(driver, { namespace: 'instance-test', deadline: '300ms' })
    onTestFinished(() => {
      silence.end()
      return redis.close()
    })
    const queue = redis.queue<Payloads>(name)
    const advanceTo = async (queueName: string): Promise<void> => {
      await queue.enqueue('mail', { to: queueName })
      await (await queue.claim())[0]?.ackAndEnqueue({
        queue: queueName,
        name: 'mail',
        payload: { to: queueName },
      })
    }
    const [refusing, near, far] = ['refusing', 'near', 'far'].map((which) => `${name} ${which}`) as [
      string,
      string,
      string,
    ]
    await other.queue<Payloads>(refusing).enqueue('mail', { to: 'first' })
    await client.hset(`instance-test:{queue:${refusing}}:meta`, 'layout', '99')
    const tried = new Set<string>()
    silence.of = ({ keys: [key = ''], script }) => {
      if (key.includes(far) && script.name === 'queue/receive') tried.add(key)
      return key.includes(far)
    }

    await advanceTo(refusing)
    await advanceTo(far)
    await advanceTo(`${far} too`)
    await until(() => tried.size === 2)
    // Until it is known that both have not answered.
    await new Promise((resolve) => setTimeout(resolve, 1000))
    silence.of = () => false
    await advanceTo(near)

    await until(async () => (await other.queue(near).inspect()).ready === 1)
    await until(async () => (await other.queue(name).inspect()).outbox === 1)
    expect(await other.queue(far).inspect()).toMatchObject({ ready: 1 })
  },
)
