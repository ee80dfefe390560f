// Calls without an answer: they end by one deadline, and name the side that did not answer.
import { connect, createServer, type Socket } from 'node:net'
import { Redis } from 'ioredis'
import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { postgresEvents, postgresOutbox } from 'perilune/postgres'
import { sqlite, sqliteEvents } from 'perilune/sqlite'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { setup } from '../../test/shown-fixture.ts'

const DEADLINE_MS = 1000

async function took(work: () => Promise<unknown>): Promise<{ ms: number; error: unknown }> {
  const from = performance.now()
  const error = await work().then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return { ms: performance.now() - from, error }
}

/** A port that forwards to the server, or after `mute()` to nothing. */
async function portTo(to: number): Promise<{ port: number; mute(): void }> {
  let isMute = false
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1')
    for (const [from, other] of [
      [near, far],
      [far, near],
    ] as const) {
      // biome-ignore format: a table
      sockets.add(from)
      from.on('error', () => undefined)
      from.on('data', (bytes: Buffer) => void (isMute || other.write(bytes)))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as { port: number }).port, mute: () => (isMute = true) }
}

describe('where Redis does not answer', () => {
  test.each([['from the first call on'], ['any more']])(
    'a flush reports it by one deadline (%s)',
    async (when) => {
      const { database, name, insert } = await setup()
      const { port, mute } = await portTo(inject('redisPort'))
      const client = new Redis({ port, retryStrategy: () => 20 })
      client.on('error', () => undefined)
      const redis = perilune(ioredis(client), { namespace: 'unanswered', deadline: `${DEADLINE_MS}ms` })
      onTestFinished(async () => {
        await redis.close()
        client.disconnect()
      })
      const target = { table: 'items', value: 'votes' }
      const counters = redis.counters(name, { sink: sqlite(database, target), fsyncGrace: '0s' })
      const events = sqliteEvents(database, { table: 'votes', id: 'item', target })
      const votes = redis.counters(`${name}-rows`, { events })
      if (when === 'any more') {
        await counters.increment(1)
        await votes.flush()
        insert(1)
      }
      mute()

      for (const of of [counters, votes]) {
        const { ms, error } = await took(() => of.flush())
        expect(error).toMatchObject({ code: expect.stringMatching(/^(unreachable|ambiguous)$/) as string })
        expect(ms).toBeLessThan(1.6 * DEADLINE_MS)
      }
    },
  )
})

describe('where the database does not answer', () => {
  test('calls that begin with the tables report it by the deadline', async () => {
    const { client } = await setup()
    const redis = perilune(ioredis(client), { namespace: 'unanswered', deadline: `${DEADLINE_MS}ms` })
    onTestFinished(() => redis.close())
    const never = (): Promise<never> => new Promise(() => undefined)
    const pool = { connect: never, query: never }
    const target = { table: 'items', value: 'votes' }
    const votes = redis.counters('votes', {
      events: postgresEvents(pool, { table: 'votes', id: 'item', target }),
    })
    const stock = redis.counters('stock', { outbox: postgresOutbox(pool, target) })
    const client_ = { query: () => Promise.resolve({ rows: [], rowCount: 0 }) }

    for (const call of [
      () => votes.prepare(),
      () => stock.prepare(),
      () => stock.add(client_, { id: 1, idempotencyKey: 'a' }),
    ]) {
      const { ms, error } = await took(call)
      expect(error).toMatchObject({ code: 'sink-unreachable' })
      expect(ms).toBeLessThan(1.6 * DEADLINE_MS)
    }
  })

  test('an addition that finds no free connection to inspect the tables names the remedy', async () => {
    const { client } = await setup()
    const redis = perilune(ioredis(client), { namespace: 'unanswered', deadline: `${DEADLINE_MS}ms` })
    onTestFinished(() => redis.close())
    const never = (): Promise<never> => new Promise(() => undefined)
    const stock = redis.counters('stock', {
      outbox: postgresOutbox({ connect: never, query: never }, { table: 'items', value: 'votes' }),
    })

    const { error } = await took(() => stock.add({ query: never }, { id: 1, idempotencyKey: 'a' }))

    expect(String(error)).toContain('await prepare() before the first transaction')
  })
})
