// A server out of memory rejects writes that grow, definitely and without a trace, and still accepts releases. uses/
// states which steps are which.

import type { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { until } from '../servers/ask.ts'
import { startRedis } from '../servers/redis.ts'
import { placeOn } from './uses/place.ts'
import { allUses, type Place, type Step, type StructureUse } from './uses/use.ts'
import { someOf } from '../proof.ts'

describe.each(someOf(await allUses(), 4))('with a $structure', ({ steps }) => {
  test('a server out of memory rejects writes that grow, definitely, and nothing is half done', async () => {
    const { place, client } = await setup()

    for (const [operation, whenFull, run] of steps(place)) {
      if (whenFull === 'refuses') await refused(client, operation, run)
      await run()
    }
  })

  test('a server out of memory serves everything else as before', async () => {
    const { place, client } = await setup()
    const expected = await answersOf(steps)

    const answers: unknown[] = []
    for (const [operation, whenFull, run] of steps(place)) {
      if (whenFull === 'serves') await fill(client)
      answers.push([operation, await run()])
      await empty(client)
    }

    expect(answers).toEqual(expected)
  })
})

test('what a permit used goes to a waiter when its lease ends, on a server out of memory', async () => {
  const { place, client } = await setup()
  const semaphore = place.redis.semaphore('full', { limit: 1 })
  await place.redis.semaphore('full', { limit: 1, lease: '1s' }).acquireDetached()
  const waiting = semaphore.acquire({ wait: '10s' })
  await until('one waits', async () => (await semaphore.inspect()).waiting === 1)
  await fill(client)

  const permit = await waiting

  expect(permit.remainingMs).toBeGreaterThan(0)
  await permit.release()
})

async function setup(): Promise<{ place: Place; client: Redis }> {
  const server = await startRedis({ args: ['--maxmemory-policy', 'noeviction'] })
  onTestFinished(() => server.stop())
  const place = await placeOn({ port: server.port })
  return { place, client: place.client }
}

async function answersOf(steps: StructureUse['steps']): Promise<unknown[]> {
  const { place } = await setup()
  const answers: unknown[] = []
  for (const [operation, , run] of steps(place)) answers.push([operation, await run()])
  return answers
}

/** Tries a step on a full server, and then gives it its memory back. */
async function refused(client: Redis, operation: string, run: Step[2]): Promise<void> {
  const before = await dump(client)
  await fill(client)
  await expect(run(), operation).rejects.toMatchObject({ name: 'DriverError', code: 'store-full' })
  expect(await dump(client), operation).toEqual(before)
  await empty(client)
}

async function fill(client: Redis): Promise<void> {
  await client.config('SET', 'maxmemory', '1')
}

async function empty(client: Redis): Promise<void> {
  await client.config('SET', 'maxmemory', '0')
}

/** All keys with their contents. */
async function dump(client: Redis): Promise<Record<string, string | null>> {
  const keys = (await client.keys('*')).toSorted()
  const contents = await Promise.all(keys.map((key) => contentOf(client, key)))
  return Object.fromEntries(keys.map((key, at) => [key, contents[at] ?? null]))
}

/** The fields of a large hash have no order of their own: it changes while the server makes room for them. */
async function contentOf(client: Redis, key: string): Promise<string | null> {
  if ((await client.type(key)) !== 'hash') return (await client.dumpBuffer(key))?.toString('base64') ?? null
  const fields = Object.entries(await client.hgetallBuffer(key))
  const pairs = fields.map(([field, value]) => `${field}=${value.toString('base64')}`)
  return pairs.toSorted().join('\n')
}
