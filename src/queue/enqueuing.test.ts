import { expect, onTestFinished, test } from 'vitest'
import { instance } from '../../test/instance.ts'
import { type Payloads, setup } from '../../test/queue-fixture.ts'
import { monitor } from '../../test/servers/monitor.ts'
import { startRedis } from '../../test/servers/redis.ts'
import { ConnectionLostError } from '../driver.ts'

test('similar jobs of one call are written with two commands, not with two each', async () => {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  const { seen, until, stop } = await monitor(server.port)
  onTestFinished(stop)
  const { queue, client, name } = await setup({ clock: 'real', port: server.port })

  await queue.enqueueMany(Array.from({ length: 500 }, () => ({ name: 'mail', payload: { to: 'customer' } })))

  await client.echo('the end')
  await until('the end')
  const written = (command: string, key: string): number =>
    seen.filter(({ words }) => words[0] === command && words[1]?.endsWith(`{queue:${name}}:${key}`)).length
  expect([written('RPUSH', 'ready'), written('HSET', 'jobs')]).toEqual([1, 1])
})

test('unique keys with a time expire even if one call brings many', async () => {
  const { queue, client, name, clock } = await setup()
  for (let call = 0; call < 20; call++) {
    const jobs = Array.from({ length: 200 }, (_, at) => ({
      name: 'mail' as const,
      payload: { to: 'ada' },
      unique: { key: `${call}-${at}`, for: '50ms' as const },
      idempotencyKey: `${call}-${at}`,
    }))
    await queue.enqueueMany(jobs)
    // Idempotency keys last for a day.
    await clock.advance(86_400_001)
  }

  // Of 8,000. Those of the last call, and as many that are over.
  expect(await client.hlen(`queue-test:{queue:${name}}:ids`)).toBeLessThan(1500)
})

test('a payload may have the maximum size that the error names', async () => {
  const { queue } = await setup()
  const most = 4 * 1024 * 1024 - 'mail'.length
  // Quotes of JSON, and the object around it.
  const payload = (bytes: number) => ({ to: 'x'.repeat(bytes - JSON.stringify({ to: '' }).length) })

  await expect(queue.enqueue('mail', payload(most + 1))).rejects.toThrow(`at most ${most} bytes when encoded`)
  await expect(queue.enqueue('mail', payload(most))).resolves.toMatchObject({ duplicate: false })
})

test('jobs of one list stay in order, even if the first of its calls is sent again', async () => {
  const { redis, driver, name } = instance()
  const queue = redis.queue<Payloads>(name)
  const { run } = driver
  let isLost = false
  driver.run = async (call) => {
    if (isLost || call.script.name !== 'queue/enqueue-alike') return run(call)
    isLost = true
    throw new ConnectionLostError('the connection was reset', false)
  }
  const jobs = Array.from({ length: 1100 }, (_, at) => ({ name: 'mail' as const, payload: { to: `${at}` } }))

  const enqueued = await queue.enqueueMany(jobs)

  const numbers = enqueued.map(({ id }) => Number(id))
  expect([isLost, Math.min(...numbers)]).toEqual([true, numbers[0]])
  expect((await queue.claim())[0]?.payload).toEqual({ to: '0' })
})

test('a list may have more jobs than the backlog of a process', async () => {
  const { redis, name } = instance()
  const queue = redis.queue<Payloads>(name)
  const job = { name: 'mail', payload: { to: 'ada' } } as const

  const enqueued = await queue.enqueueMany(Array.from({ length: 100_001 }, () => job))

  expect([enqueued.length, (await queue.inspect()).ready]).toEqual([100_001, 100_001])
  await queue.clear()
})
