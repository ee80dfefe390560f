import { randomUUID } from 'node:crypto'
import { Cluster } from 'ioredis'
import { perilune, type Semaphore } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { lineOf } from '../semaphore-fixture.ts'

/** A handle of its own instance on a connection of its own, as in another process. */
function handle(name: string): Semaphore {
  const client = new Cluster(inject('clusterPorts').map((port) => ({ host: '127.0.0.1', port })))
  const redis = perilune(ioredis(client), { namespace: 'faults' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return redis.semaphore(name, { limit: 2 })
}

test('on a cluster waiters are served in order, even across processes', async () => {
  const name = randomUUID()
  const [here, there] = [handle(name), handle(name)]
  const holder = await here.acquire({ weight: 2 })
  const served: string[] = []
  const first = there.acquire({ weight: 2, wait: '20s' }).then((lease) => {
    served.push('first')
    return lease
  })
  await lineOf(here, 1)
  const second = here.acquire({ wait: '20s' }).then(() => served.push('second'))
  await lineOf(here, 2)

  await holder.release()
  await (await first).release()
  await second

  expect(served).toEqual(['first', 'second'])
})

test('a process whose first call is a release notifies waiters on the right channel', async () => {
  const name = randomUUID()
  const here = handle(name)
  const { token } = await here.acquire({ weight: 2 })
  const waiter = here.acquire({ wait: '10s' })
  await lineOf(here, 1)

  await handle(name).byToken.release(token)

  expect((await waiter).token).toBeGreaterThan(token)
})
