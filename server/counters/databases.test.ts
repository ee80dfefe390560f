// A service with real databases of counters: one that is away, comes back, and does not leak its password.

import { randomUUID } from 'node:crypto'
import { renameSync } from 'node:fs'
import { expect, inject, onTestFinished, test } from 'vitest'
import { mysqlPackets, postgresPackets } from '../../test/servers/packets.ts'
import { type Proxy, startProxy } from '../../test/servers/proxy.ts'
import { startPostgres } from '../../test/servers/postgres.ts'
import { databasePort } from '../../test/servers/shared-database.ts'
import { type Service, startService } from '../service.ts'
import { StartError } from '../process/environment.ts'
import { type DatabaseUrl, readDatabaseUrl } from './database-url.ts'
import { Databases } from './databases.ts'
import { type Items, mariadbItems, PASSWORD, postgresItems, sqliteItems } from '../testing/items.ts'

const JSON_BODY = { 'Content-Type': 'application/json' }

async function start(counters: object, namespace = `t-${randomUUID()}`): Promise<Service> {
  const service = await startService(
    {
      REDIS_URL: `redis://127.0.0.1:${inject('redisPort')}`,
      PERILUNE_NAMESPACE: namespace,
      PERILUNE_COUNTERS: JSON.stringify(counters),
      PORT: '0',
      LOG_LEVEL: 'silent',
    },
    () => undefined,
  )
  onTestFinished(() => service.close())
  return service
}

async function kept<Place extends Items>(items: Place): Promise<Place> {
  onTestFinished(() => items.close())
  return items
}

async function proxied(kind: 'postgres' | 'mariadb'): Promise<Proxy> {
  const newReader = kind === 'postgres' ? postgresPackets : mysqlPackets
  const proxy = await startProxy(await databasePort(kind), newReader)
  onTestFinished(() => proxy.stop())
  return proxy
}

interface Answer {
  readonly status: number
  readonly text: string
}

async function post({ url }: Service, path: string, body: object): Promise<Answer> {
  const sent = { method: 'POST', headers: JSON_BODY, body: JSON.stringify(body) }
  const answer = await fetch(`${url}/v1/counters/${path}`, sent)
  return { status: answer.status, text: await answer.text() }
}

const increment = (service: Service, name: string, id: number): Promise<Answer> =>
  post(service, `${name}/increments`, { id })

async function note(service: Service, name: string, id: number, by: number): Promise<unknown> {
  const { text } = await post(service, `${name}/notes`, { id, by })
  return (JSON.parse(text) as { value: unknown }).value
}

async function valueOf({ url }: Service, name: string, id: number): Promise<unknown> {
  const answer = await fetch(`${url}/v1/counters/${name}/values/${id}`)
  return ((await answer.json()) as { value: unknown }).value
}

const OPENERS = {
  sqlite: () => sqliteItems(),
  postgres: postgresItems,
  mariadb: mariadbItems,
} as const

test.each(['sqlite', 'postgres', 'mariadb'] as const)(
  'increments reach a table of %s without a call, and when the service closes',
  async (kind) => {
    const items = await kept(await OPENERS[kind]())
    const place = { ...items.entry, fsyncGrace: '0s' }
    const service = await start({
      votes: { ...place, flushEvery: '50ms', partitions: 4 },
      likes: { ...place, flushEvery: '1h' },
      flushed: { ...place, flushEvery: false },
    })
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200)

    await Promise.all([7, 8, 9, 7].map((id) => increment(service, 'votes', id)))
    await expect.poll(() => items.votes()).toEqual({ 7: 42, 8: 1, 9: 1 })

    await increment(service, 'likes', 10)
    await increment(service, 'flushed', 11)
    await service.close()
    expect(await items.votes()).toEqual({ 7: 42, 8: 1, 9: 1, 10: 1 })
  },
)

/** On a server of its own: open transactions of other tests would hold back the counting. */
async function alone(kind: keyof typeof OPENERS): Promise<Items> {
  if (kind !== 'postgres') return kept(await OPENERS[kind]())
  const server = await startPostgres()
  onTestFinished(() => server.stop())
  return kept(await postgresItems(server.port, server.port))
}

test.each(['sqlite', 'postgres', 'mariadb'] as const)(
  'rows of %s are counted without a call, and shown before that, once their table exists',
  async (kind) => {
    const items = await alone(kind)
    const { database, ...target } = items.entry
    const events = { table: 'votes', id: 'item', amount: 'points', target }
    const service = await start({ votes: { database, events, flushEvery: '50ms', partitions: 2 } })
    const ready = (): Promise<Response> => fetch(`${service.url}/readyz`)
    const answer = await ready()
    expect([answer.status, await answer.text()]).toEqual([
      503,
      expect.stringContaining('the counters votes: the table votes does not exist'),
    ])

    await items.makeVotes()
    await expect.poll(async () => (await ready()).status).toBe(200)
    await items.run('INSERT INTO votes (item, points) VALUES (7, 2)')
    expect(await valueOf(service, 'votes', 7)).toBe(42)
    await items.run('INSERT INTO votes (item, points) VALUES (7, -1)')
    // A round between row and note counts it twice until the next one.
    expect([41, 40]).toContain(await note(service, 'votes', 7, -1))

    await expect.poll(() => items.votes()).toEqual({ 7: 41 })
    await expect.poll(() => valueOf(service, 'votes', 7)).toBe(41)
  },
)

test.each(['sqlite', 'postgres', 'mariadb'] as const)(
  'additions in transactions of %s are counted without a call, each idempotency key once',
  async (kind) => {
    const items = await alone(kind)
    const { database, ...target } = items.entry
    const namespace = `t-${randomUUID()}`
    const service = await start({ stock: { database, outbox: target, flushEvery: '50ms' } }, namespace)
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
    const databases = new Databases()
    onTestFinished(() => databases.close())
    const outbox = (await databases.at(readDatabaseUrl(database) as DatabaseUrl)).outbox(target)
    const entry = { id: '7', by: -3, idempotencyKey: 'o-1' }
    const add = (): Promise<boolean> =>
      items.inTransaction((client) => outbox.add(client, `${namespace}:v1:default/stock`, entry))
    await outbox.prepare()
    expect(await valueOf(service, 'stock', 7)).toBe(40)

    expect([await add(), await add()]).toEqual([true, false])

    expect([37, 34]).toContain(await note(service, 'stock', 7, -3))
    await expect.poll(() => items.votes()).toEqual({ 7: 37 })
    expect(await add()).toBe(false)
    await expect.poll(() => valueOf(service, 'stock', 7)).toBe(37)
  },
)

test.each(['postgres', 'mariadb'] as const)(
  'a %s that is away makes the service not ready; once it was there, counting does not need it',
  async (kind) => {
    const proxy = await proxied(kind)
    const items = await kept(await OPENERS[kind](proxy.port))
    proxy.halfOpen()
    const service = await start({ votes: { ...items.entry, fsyncGrace: '0s', flushEvery: '20ms' } })
    const away = await fetch(`${service.url}/readyz`)
    expect(away.status).toBe(503)
    expect(await away.text()).toContain('the database of the counters votes does not answer')
    expect(service.engine.warnings).toContain('not ready: the database of the counters votes does not answer')

    proxy.heal()
    proxy.resetAll()
    await expect.poll(async () => (await fetch(`${service.url}/readyz`)).status).toBe(200)
    await expect.poll(async () => (await increment(service, 'votes', 7)).status).toBe(200)
    await expect.poll(async () => (await items.votes())['7']).toBe(41)

    proxy.halfOpen()
    const during = [await increment(service, 'votes', 7), await increment(service, 'votes', 7)]
    expect(during.map(({ status }) => status)).toEqual([200, 200])
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200)

    proxy.heal()
    proxy.resetAll()
    await expect.poll(async () => (await items.votes())['7']).toBe(43)
  },
)

test('a service with other rows than those of the first one is not ready, and creates no tables', async () => {
  const [first, second] = [await kept(await sqliteItems()), await kept(await sqliteItems())]
  for (const items of [first, second]) await items.makeVotes()
  const namespace = `t-${randomUUID()}`
  const serve = ({ entry: { database, ...target } }: Items, columns: object): Promise<Service> =>
    start(
      { votes: { database, events: { table: 'votes', ...columns, target }, flushEvery: false } },
      namespace,
    )
  const right = await serve(first, { id: 'item', amount: 'points' })
  expect((await fetch(`${right.url}/readyz`)).status).toBe(200)

  const wrong = await fetch(`${(await serve(second, { id: 'item' })).url}/readyz`)

  expect([wrong.status, await wrong.text()]).toEqual([
    503,
    expect.stringContaining('are in items (id, votes)'),
  ])
  await expect(second.run('DROP TABLE perilune_cursor')).rejects.toThrow('no such table')
})

test('a file of SQLite that does not exist is waited for, and not created', async () => {
  const items = await kept(await sqliteItems())
  renameSync(items.file, `${items.file}.away`)
  const service = await start({ votes: { ...items.entry, fsyncGrace: '0s', flushEvery: '20ms' } })
  expect((await fetch(`${service.url}/readyz`)).status).toBe(503)
  expect((await increment(service, 'votes', 7)).status).toBe(503)

  renameSync(`${items.file}.away`, items.file)

  await expect.poll(async () => (await fetch(`${service.url}/readyz`)).status).toBe(200)
  expect((await increment(service, 'votes', 7)).status).toBe(200)
  await expect.poll(async () => (await items.votes())['7']).toBe(41)
})

test('an unsuitable table is reported by its name until it is corrected', async () => {
  const items = await kept(await sqliteItems())
  const service = await start({ late: { ...items.entry, table: 'late' } })
  const reason = await (await fetch(`${service.url}/readyz`)).text()
  expect(reason).toContain('the counters late: the table late does not exist')

  await items.run('CREATE TABLE late (id INTEGER PRIMARY KEY, votes INTEGER NOT NULL)')

  await expect.poll(async () => (await fetch(`${service.url}/readyz`)).status).toBe(200)
})

test('entries on one server share its connections', async () => {
  const proxy = await proxied('postgres')
  const items = await kept(await postgresItems(proxy.port))
  const places = Array.from({ length: 15 }, (_, at) => [`votes-${at}`, { ...items.entry, flushEvery: false }])
  const service = await start(Object.fromEntries(places))

  await Promise.all(Array.from({ length: 45 }, (_, at) => increment(service, `votes-${at % 15}`, 100 + at)))

  expect(proxy.openConnections).toBeLessThanOrEqual(10)
  expect(proxy.openConnections).toBeGreaterThan(0)
})

test('a wrong password keeps the service from being ready, and is not disclosed', async () => {
  const items = await kept(await mariadbItems())
  const lines: string[] = []
  const database = items.entry.database.replace(encodeURIComponent(PASSWORD), 'wr0ng-s3cr3t')
  const service = await start({ votes: { ...items.entry, database } })
  service.log.level = 'trace'
  service.log.warn = (...words: unknown[]) => void lines.push(JSON.stringify(words))

  const ready = await fetch(`${service.url}/readyz`)
  const { status, text } = await increment(service, 'votes', 7)

  expect([ready.status, status]).toEqual([503, 503])
  const output = [await ready.text(), text, ...lines, ...service.engine.warnings].join('\n')
  expect(lines.join('\n')).toContain('Access denied')
  expect(output).not.toMatch(/wr0ng|s3cr3t|p4ss/)
})

test('an invalid entry keeps the service from starting', async () => {
  const error: unknown = await start({ votes: { database: 'mysql://:s3cr3t@db/x', table: 7 } }).catch(
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(StartError)
  expect((error as Error).message).toBe(
    'PERILUNE_COUNTERS: votes.table must be the name of a table, such as items or shop.items',
  )
})
