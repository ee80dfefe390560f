// A user who may not ask which processes listen, as the rules of the release before had it.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { Runner } from '../../src/runtime/calls/runner.ts'
import { until } from '../queue-fixture.ts'
import { ask } from '../servers/ask.ts'
import { startRedis } from '../servers/redis.ts'
import { look } from './obedient-worker.ts'

const NAMESPACE = 'perilune'
const USER = { username: 'narrow', password: 'secret' }

async function setup(): Promise<{ connect(): { redis: Perilune; client: Redis } }> {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  await ask(
    server.port,
    'ACL',
    'SETUSER',
    USER.username,
    'on',
    `>${USER.password}`,
    '~*',
    '&*',
    '+@all',
    '-pubsub',
  )
  const connect = () => {
    const client = new Redis({ port: server.port, ...USER, retryStrategy: () => null })
    client.on('error', () => undefined)
    const redis = perilune(ioredis(client), { namespace: NAMESPACE })
    onTestFinished(async () => {
      await redis.close()
      client.disconnect()
    })
    return { redis, client }
  }
  return { connect }
}

test('no job is handed to a worker whose presence is unknown', async () => {
  const { connect } = await setup()
  const { redis, client } = connect()
  const queue = redis.queue(randomUUID())
  const place = { namespace: NAMESPACE, queue: queue.name }
  await look(new Runner(ioredis(client), 5000), place, 'gone.1:30000')

  await queue.enqueue('n', 1)

  expect(await queue.claim()).toHaveLength(1)
})

test('a worker is woken, and does its jobs', async () => {
  const { connect } = await setup()
  const name = randomUUID()
  const queue = connect().redis.queue(name)
  const done: unknown[] = []
  await using _worker = connect()
    .redis.queue(name)
    .work(({ payload }) => void done.push(payload))
  await until(async () => (await queue.inspect()).idle === 1)

  await queue.enqueue('n', 1)

  await until(() => done.length === 1)
})
