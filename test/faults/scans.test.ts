// Pages of a scan of Redis, continued after a restart: another process has another order, so that an earlier cursor
// would skip some elements.

import { Redis } from 'ioredis'
import { perilune, type Perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RedisServer, startRedis } from '../servers/redis.ts'

const NAMES = Array.from({ length: 2000 }, (_, at) => `name ${at}`)

let server: RedisServer
let client: Redis
let redis: Perilune

beforeAll(async () => {
  server = await startRedis({ aof: 'always' })
  client = new Redis(server.port)
  client.on('error', () => undefined)
  redis = perilune(ioredis(client), { namespace: 'scans' })
})

afterAll(async () => {
  await redis.close()
  client.disconnect()
  await server.stop()
})

test.each(['set', 'hash'] as const)(
  'a reader of a %s gets an answer that it must start again',
  async (kind) => {
    const replaced = { ttl: '1h', version: 7 } as const
    if (kind === 'set') await redis.collection('names', { kind }).replace(NAMES, replaced)
    else {
      const items = NAMES.map((name) => [name, 1] as const)
      await redis.collection('numbers', { kind }).replace(items, replaced)
    }
    const read = (after?: string) => {
      const options = { limit: 100, ...(after === undefined ? {} : { after }) }
      return redis.collection(kind === 'set' ? 'names' : 'numbers', { kind }).read(options)
    }
    const first = await read()
    if (first.status !== 'page' || first.next === null) throw new Error('there must be another page')
    expect(await read(first.next)).toMatchObject({ status: 'page' })

    await server.restart()

    expect(await read(first.next)).toEqual({ status: 'replaced', version: 7 })
  },
)

test.each([1, 2])('a search in %i partitions finds every job', async (partitions) => {
  const queue = redis.queue(`in ${partitions}`, { partitions })
  await queue.enqueueMany(NAMES.map((name) => ({ name: 'greet', payload: name })))
  const found = new Set<unknown>()
  let after: string | null | undefined
  for (let page = 0; after !== null; page++) {
    const options = { limit: 200, ...(after === undefined ? {} : { after }) }
    const { jobs, next } = await queue.jobs.search(options)
    for (const { payload } of jobs) found.add(payload)
    after = next
    if (page === 3) await server.restart()
  }
  expect(found.size).toBe(NAMES.length)
})
