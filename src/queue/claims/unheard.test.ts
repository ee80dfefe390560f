// The errors when a process cannot subscribe: they are of the library, not of the driver.

import { expect, inject, onTestFinished, test } from 'vitest'
import { setup, until } from '../../../test/queue-fixture.ts'
import { type Proxy, startProxy } from '../../../test/servers/proxy.ts'

const UNREACHABLE = expect.objectContaining({ name: 'DriverError', code: 'unreachable' })

async function behindProxy() {
  const proxy: Proxy = await startProxy(inject('redisPort'))
  onTestFinished(() => proxy.stop())
  return { proxy, ...(await setup({ clock: 'real', port: proxy.port })) }
}

test('a worker whose subscription is denied reports this, and continues', async () => {
  const { proxy, queue } = await behindProxy()
  const errors: unknown[] = []
  const done: string[] = []
  await queue.inspect()

  proxy.dropRequests(20, /subscribe/i)
  await using _worker = queue.work(
    { mail: ({ payload }) => done.push(payload.to) },
    { onError: (error) => errors.push(error) },
  )
  await until(() => errors.length > 0)
  await queue.enqueue('mail', { to: 'ada' })
  await until(() => done.length === 1)

  expect(errors).toEqual(errors.map(() => UNREACHABLE))
})

test('a listener to events whose subscription is denied gets an error', async () => {
  const { proxy, queue } = await behindProxy()
  await queue.inspect()

  proxy.dropRequests(20, /subscribe/i)

  await expect(queue.events().next()).rejects.toEqual(UNREACHABLE)
})
