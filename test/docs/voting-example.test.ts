import { randomUUID } from 'node:crypto'
import Database from 'libsql'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import { expect, test } from 'vitest'
import { databasePort } from '../servers/shared-database.ts'
import { newFile, redisServer, serve, start } from './voting.ts'

const LOAD = ['--load', '--seconds', '2', '--in-flight', '16']
const AGREED =
  /\n(\d+) were answered, \1 of them are rows\n(\d+) rows in SQL, \2 counted in SQL, \2 shown by Redis: drift 0\n/

async function postgresUrl(): Promise<string> {
  const [port, name] = [await databasePort('postgres'), `voting_${randomUUID().replaceAll('-', '')}`]
  const client = new pg.Client(`postgres://postgres@127.0.0.1:${port}/postgres`)
  await client.connect()
  await client.query(`CREATE DATABASE ${name}`)
  await client.end()
  return `postgres://postgres@127.0.0.1:${port}/${name}`
}

async function mariadbUrl(): Promise<string> {
  const [port, name] = [await databasePort('mariadb'), `voting_${randomUUID().replaceAll('-', '')}`]
  const connection = await createConnection(`mysql://root@127.0.0.1:${port}`)
  await connection.query(`CREATE DATABASE ${name}`)
  await connection.end()
  return `mysql://root@127.0.0.1:${port}/${name}`
}

test.each([
  { name: 'the embedded database', urlOf: async () => '' },
  { name: 'PostgreSQL', urlOf: postgresUrl },
  { name: 'MariaDB', urlOf: mariadbUrl },
])('every vote under load is counted once on $name, and Redis shows it', async ({ urlOf }) => {
  const [redis, url] = await Promise.all([redisServer(), urlOf()])

  const { code, out, errors } = await start(redis, url, ...LOAD).ended()

  expect({ code, errors }).toEqual({ code: 0, errors: '' })
  const [, answered = 0, rows = 0] = AGREED.exec(out) ?? []
  expect(Number(answered)).toBeGreaterThan(0)
  expect(rows).toBe(answered)
  const [, already = 0] = /\n(\d+) came a second time and were not counted again; 0 failed\n/.exec(out) ?? []
  expect(Number(already)).toBe(Math.ceil(Number(answered) / 10))
})

test('a count that was changed by hand is reported as drift', async () => {
  const [redis, file] = [await redisServer(), newFile()]
  await start(redis, `file:${file}`, '--load', '--most', '5').ended()
  const database = new Database(file)
  database.exec('UPDATE items SET votes = votes + 1 WHERE id = 1')
  database.close()

  const { code, out, errors } = await start(redis, `file:${file}`, '--load', '--most', '5').ended()

  expect({ code, errors }).toEqual({ code: 1, errors: '' })
  expect(out).toContain('10 rows in SQL, 11 counted in SQL, 11 shown by Redis: drift 2\n')
})

async function vote(url: string, item: number, body: string): Promise<[number, unknown]> {
  const response = await fetch(`${url}/items/${item}/votes`, { method: 'POST', body })
  return [response.status, await response.json()]
}

async function countsOf(url: string): Promise<Record<string, number>> {
  const items = (await (await fetch(`${url}/items`)).json()) as { title: string; votes: number }[]
  return Object.fromEntries(items.flatMap(({ title, votes }) => (votes === 0 ? [] : [[title, votes]])))
}

test('a vote counts at once, and once for each user and item', async () => {
  const { url } = await serve(await redisServer())
  const [ada, bob] = ['{"user": "ada"}', '{"user": "bob"}']
  expect(await countsOf(url)).toEqual({})

  expect(await vote(url, 6, ada)).toEqual([201, { status: 'counted', votes: 1 }])
  expect(await vote(url, 6, ada)).toEqual([200, { status: 'already', votes: 1 }])
  expect(await vote(url, 6, bob)).toEqual([201, { status: 'counted', votes: 2 }])
  expect(await vote(url, 5, bob)).toEqual([201, { status: 'counted', votes: 1 }])

  expect(await countsOf(url)).toEqual({ Tycho: 2, Plato: 1 })
})

test('an invalid vote is rejected, and counts nothing', async () => {
  const { url } = await serve(await redisServer())

  expect(await vote(url, 7, '{"user": "ada"}')).toEqual([404, { problem: 'there is no such item' }])
  for (const body of ['', 'null', '{"user": 7}', '{"user": "a b"}', `{"user": "${'a'.repeat(65)}"}`]) {
    expect((await vote(url, 1, body))[0], body).toBe(400)
  }

  expect(await countsOf(url)).toEqual({})
})

test('votes are there after a restart, even on an empty Redis', async () => {
  const first = await serve(await redisServer())
  await vote(first.url, 1, '{"user": "ada"}')
  first.program.interrupt()
  expect(await first.program.ended()).toMatchObject({ code: 0, errors: '' })

  const { url } = await serve(await redisServer(), first.file)

  expect(await countsOf(url)).toEqual({ Aristarchus: 1 })
  expect(await vote(url, 1, '{"user": "ada"}')).toEqual([200, { status: 'already', votes: 1 }])
})

/** Pictures as the page gets them. */
async function* picturesOf(url: string): AsyncGenerator<Record<string, unknown>> {
  const response = await fetch(`${url}/events`)
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  let text = ''
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const events = (text + chunk).split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) yield JSON.parse(event.replace(/^data: /, '')) as Record<string, unknown>
  }
}

test('a viewer sees votes arrive, and SQL agree with Redis afterwards', async () => {
  const { url, program } = await serve(await redisServer())

  const seen: Record<string, unknown>[] = []
  for await (const picture of picturesOf(url)) {
    seen.push(picture)
    if (seen.length === 1) await vote(url, 4, '{"user": "ada"}')
    if (picture['total'] === 1 && picture['sql'] === 'agrees' && picture['waiting'] === 0) break
  }

  expect(seen[0]).toMatchObject({ total: 0, votesPerSecond: 0, waiting: 0, lagMs: null, sql: 'agrees' })
  expect(seen.some(({ votesPerSecond }) => Number(votesPerSecond) > 0)).toBe(true)
  expect(seen.at(-1)?.['items']).toContainEqual({ id: 4, title: 'Kepler', votes: 1 })
  expect(seen.map(({ sql }) => sql)).not.toContain('differs')
  program.interrupt()
  expect(await program.ended()).toMatchObject({ code: 0, errors: '' })
})
