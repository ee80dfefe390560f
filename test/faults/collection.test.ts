// Deliveries that come twice at once, connections that break, servers that restart or are full while items are
// built: a collection is always one of those that were stored, and whole.

import { randomUUID } from 'node:crypto'
import { Cluster, Redis } from 'ioredis'
import { type CollectionList, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { countOf, tell } from '../proof.ts'
import { startProxy } from '../servers/proxy.ts'
import { startRedis } from '../servers/redis.ts'

function connect(client: Redis | Cluster): (name: string) => CollectionList<number> {
  client.on('error', () => undefined)
  const redis = perilune(ioredis(client), { namespace: 'faults' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return (name) => redis.collection<number>(name, { kind: 'list' })
}

const onPort = (port: number): ReturnType<typeof connect> =>
  connect(new Redis({ port, retryStrategy: () => 20 }))

const upTo = (count: number, from = 0): number[] => Array.from({ length: count }, (_, at) => from + at)

async function all(list: CollectionList<number>): Promise<number[] | string> {
  const items: number[] = []
  let after: string | null = null
  do {
    const page = await list.read({ limit: 1000, ...(after === null ? {} : { after }) })
    if (page.status !== 'page') return page.status
    items.push(...page.items)
    after = page.next
  } while (after !== null)
  return items
}

const DELIVERIES = countOf(10_000, 1000)

test.each([
  ['with a version', { version: 1 }, 100],
  ['without a version', {}, 100],
  ['in a build', { version: 1 }, 2000],
] as const)(
  'a list that two of eight connections replace at once is there once: %s',
  { timeout: 300_000 },
  async (what, options, size) => {
    const connections = upTo(8).map(() => onPort(inject('redisPort')))
    const prefix = randomUUID()
    const deliver = async (at: number): Promise<void> => {
      const lists = [at % 8, (at + 1) % 8].map((n) => connections[n]!(`${prefix} ${at}`))
      const done = await Promise.all(lists.map((list) => list.replace(upTo(size), options)))
      expect(done.map(({ status }) => status)).toContain('replaced')
      expect(await lists[0]!.inspect()).toMatchObject({ exists: true, size })
    }

    const count = size > 1000 ? DELIVERIES / 5 : DELIVERIES
    for (let at = 0; at < count; at += 8) await Promise.all(upTo(8, at).map(deliver))

    expect(await all(connections[0]!(`${prefix} 0`))).toEqual(upTo(size))
    tell(`collection: ${count} lists of ${size} delivered twice at once ${what}, none doubled`)
  },
)

test('readers see one whole list or another while two connections replace it continuously', async () => {
  const prefix = randomUUID()
  const [one, two, reader] = [1, 2, 3].map(() => onPort(inject('redisPort'))(prefix))
  await one!.replace(upTo(1500))
  let over = false
  const write = async (list: CollectionList<number>, from: number): Promise<void> => {
    for (let turn = 0; !over; turn++) await list.replace(upTo(1100 + (turn % 3) * 400, from))
  }
  const writing = Promise.all([write(one!, 0), write(two!, 100_000)])
  let [whole, replaced] = [0, 0]
  for (let turn = 0; turn < 200; turn++) {
    const items = await all(reader!)
    if (items === 'replaced') replaced += 1
    else {
      const from = items[0] as number
      expect(items).toEqual(upTo(items.length, from))
      expect([1100, 1500, 1900]).toContain(items.length)
      whole += 1
    }
  }
  over = true
  await writing
  expect(whole + replaced).toBe(200)
  expect(whole).toBeGreaterThan(0)
})

test('replaces and appends count once though the connection is reset repeatedly', async () => {
  const proxy = await startProxy(inject('redisPort'))
  onTestFinished(() => proxy.stop())
  const list = onPort(proxy.port)(randomUUID())
  await list.replace([])
  proxy.resetEach(25)

  for (let n = 0; n < 200; n++) expect(await list.append([n])).toMatchObject({ size: n + 1 })
  expect(await all(list)).toEqual(upTo(200))
  for (let n = 0; n < 10; n++) await list.replace(upTo(3000, n))
  proxy.resetEach(0)
  expect(proxy.connections).toBeGreaterThan(5)

  expect(await all(list)).toEqual(upTo(3000, 9))
})

test('a server that restarts while items are built keeps the old ones or has the new ones, whole', async () => {
  const server = await startRedis({ aof: 'always' })
  onTestFinished(() => server.stop())
  const list = onPort(server.port)(randomUUID())
  await list.replace(upTo(10), { version: 1 })

  const replacing = list.replace(upTo(100_000), { version: 2 })
  await server.kill()
  await server.restart()

  expect(await replacing).toMatchObject({ status: 'replaced', size: 100_000 })
  expect(await all(list)).toEqual(upTo(100_000))
})

test('a server that loses everything while items are built has the new ones, whole, or none', async () => {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  const list = onPort(server.port)(randomUUID())
  const client = new Redis(server.port)
  onTestFinished(() => client.disconnect())

  for (let turn = 0; turn < 20; turn++) {
    const replacing = list.replace(upTo(5000, turn))
    for (let step = 0; step < turn % 5; step++) await client.ping()
    await client.flushall()
    await replacing
    expect([upTo(5000, turn), 'absent']).toContainEqual(await all(list))
  }
})

test('a server that is full in the middle of a build keeps the old items, and accepts new ones later', async () => {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  const list = onPort(server.port)(randomUUID())
  const client = new Redis(server.port)
  onTestFinished(() => client.disconnect())
  await list.replace(upTo(10))
  const used = Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1])
  await client.config('SET', 'maxmemory', String(used + 3_000_000))

  await expect(list.replace(upTo(2_000_000))).rejects.toMatchObject({ code: 'store-full' })
  expect(await all(list)).toEqual(upTo(10))

  await client.config('SET', 'maxmemory', '0')
  expect(await list.replace(upTo(5000))).toMatchObject({ status: 'replaced', size: 5000 })
})

test('on a cluster collections lie in many slots, and are built and switched in there', async () => {
  const ports = inject('clusterPorts')
  const open = connect(new Cluster(ports.map((port) => ({ host: '127.0.0.1', port }))))
  const prefix = randomUUID()
  const lists = upTo(12).map((n) => open(`${prefix} ${n}`))

  await Promise.all(lists.map((list, n) => list.replace(upTo(2500, n), { version: n })))

  for (const [n, list] of lists.entries()) expect(await all(list)).toEqual(upTo(2500, n))
})
