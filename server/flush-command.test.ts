// The flush command as a process: what it prints, how it ends, and what is right after it was killed.

import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { renameSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { perilune, type Counters, type Sink } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { postgres } from 'perilune/postgres'
import pg from 'pg'
import { expect, inject, onTestFinished, test } from 'vitest'
import { commandOf } from '../test/programs/fork.ts'
import { postgresPackets } from '../test/servers/packets.ts'
import { startProxy } from '../test/servers/proxy.ts'
import { startRedis } from '../test/servers/redis.ts'
import { databasePort } from '../test/servers/shared-database.ts'
import { fromTransaction } from 'perilune/transaction-sink'
import { SqliteFile } from './counters/sqlite-file.ts'
import { type Items, NAMES, postgresItems, sqliteItems } from './testing/items.ts'

// Several programs start one after the other.
const LONG = { timeout: 90_000 }

const main = new URL('main.ts', import.meta.url)

interface Program {
  readonly child: ChildProcess
  readonly out: () => string
  readonly err: () => string
  readonly exit: Promise<number | null>
  /** Resolves once the output contains `text`. */
  says(text: string | RegExp): Promise<void>
}

function run(args: readonly string[], environment: Record<string, string>): Program {
  const env = { ...process.env, ...environment }
  const child = spawn(process.execPath, [...commandOf(main), ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  return {
    child,
    out: () => out,
    err: () => err,
    exit: once(child, 'close').then(() => child.exitCode),
    says: (text) => expect.poll(() => out).toMatch(text),
  }
}

interface Setup {
  readonly items: Items
  /** Counters incremented by an application that does not flush. */
  readonly counters: Counters
  flush(...args: string[]): Program
}

type Place = Partial<Record<'batchSize' | 'settle' | 'flushEvery' | 'table', unknown>>

async function setup(items: Items, sink: Sink, place: Place = {}, port?: number): Promise<Setup> {
  const client = new Redis(port ?? inject('redisPort'))
  client.on('error', () => undefined)
  const namespace = `t-${randomUUID()}`
  const redis = perilune(ioredis(client), { namespace })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
    await items.close()
  })
  const entry = { ...items.entry, project: null, fsyncGrace: '0s', flushEvery: '20ms', ...place }
  const environment = {
    REDIS_URL: `redis://127.0.0.1:${port ?? inject('redisPort')}`,
    PERILUNE_NAMESPACE: namespace,
    PERILUNE_COUNTERS: JSON.stringify({ votes: entry }),
  }
  return {
    items,
    counters: redis.counters('votes', { sink }),
    flush: (...args) => run(['flush', ...args], environment),
  }
}

async function overSqlite(place: Place = {}, port?: number): Promise<Setup> {
  const items = await sqliteItems()
  const file = new SqliteFile(items.file)
  onTestFinished(() => file.close())
  const sink = fromTransaction((work) => file.transact(work), { dialect: 'sqlite', ...NAMES })
  return setup(items, sink, place, port)
}

async function count(counters: Counters, ids: number): Promise<Record<string, number>> {
  const each = Array.from({ length: ids }, (_, at) => ({ id: at + 100, by: at + 1 }))
  await counters.incrementMany(each)
  return Object.fromEntries(each.map(({ id, by }) => [String(id), by]))
}

test('it flushes until it is stopped, prints what it wrote, and flushes once more as it ends', async () => {
  const { items, counters, flush } = await overSqlite()
  const program = flush()
  await program.says('flushing votes\n')
  await counters.increment(7)
  await program.says('votes: flushed 1 in 1 batch\n')
  expect(await items.votes()).toEqual({ 7: 41 })

  await counters.increment(7)
  program.child.kill('SIGTERM')
  program.child.kill('SIGINT')

  expect([await program.exit, program.err()]).toEqual([0, ''])
  expect(await items.votes()).toEqual({ 7: 42 })
})

test('with --once it ends with 0 when everything is in the table, also when there was nothing', async () => {
  const { items, counters, flush } = await overSqlite()
  const counted = await count(counters, 30)
  const first = flush('votes', '--once')
  expect(await first.exit).toBe(0)
  expect(first.out()).toBe('votes: flushed 30 in 1 batch\n')
  expect(await items.votes()).toEqual({ 7: 40, ...counted })

  const second = flush('--once')
  expect([await second.exit, second.out()]).toEqual([0, ''])
})

test('with --once it ends with 1 when the database stays away or lacks the table, and keeps the pending increments', async () => {
  const lacking = await overSqlite({ table: 'absent' })
  const refused = lacking.flush('--once')
  expect([await refused.exit, refused.out()]).toEqual([1, 'votes: the table absent does not exist\n'])

  const { items, counters, flush } = await overSqlite()
  await counters.increment(7)
  await items.close()
  const away = flush('--once', '--wait', '10ms')
  expect(await away.exit).toBe(1)
  expect(away.out()).toMatch(/^votes: the file \S+ does not exist\n$/)
  expect((await counters.inspect()).dirty).toBe(1)
})

test('rows are counted, and their number is printed', async () => {
  const items = await sqliteItems()
  onTestFinished(() => items.close())
  await items.makeVotes()
  await items.run('INSERT INTO votes (item, points) VALUES (7, 2), (8, 1), (7, -1)')
  const { database, ...target } = items.entry
  const events = { table: 'votes', id: 'item', amount: 'points', target }
  const environment = {
    REDIS_URL: `redis://127.0.0.1:${inject('redisPort')}`,
    PERILUNE_NAMESPACE: `t-${randomUUID()}`,
    PERILUNE_COUNTERS: JSON.stringify({
      votes: { database, project: null, events },
      stock: { database, project: null, outbox: target },
    }),
  }
  const first = run(['flush', '--once'], environment)
  expect([await first.exit, first.out()]).toEqual([0, 'votes: counted 3 rows\n'])
  expect(await items.votes()).toEqual({ 7: 41, 8: 1 })

  const program = run(['flush'], environment)
  await program.says('flushing votes, stock\n')
  await items.run('INSERT INTO votes (item, points) VALUES (8, 1)')
  await program.says('votes: counted 1 row\n')
  program.child.kill('SIGTERM')

  expect([await program.exit, program.err()]).toEqual([0, ''])
  expect(await items.votes()).toEqual({ 7: 41, 8: 2 })
})

test('an unsuitable table ends it at the start', async () => {
  const { flush } = await overSqlite({ table: 'absent' })
  const program = flush()
  expect(await program.exit).toBe(1)
  expect(program.err()).toBe('perilune cannot flush: votes: the table absent does not exist\n')
})

test('it waits for a database and for a Redis that are away, and reports each once', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const { items, counters, flush } = await overSqlite({}, redis.port)
  const file = items.entry.database.replace('sqlite:', '')
  renameSync(file, `${file}.away`)
  const program = flush()
  await program.says(`votes: the file ${file} does not exist\n`)
  await sleep(1200) // it retries twice a second
  renameSync(`${file}.away`, file)
  await counters.increment(7)
  await program.says('votes: flushed 1 in 1 batch\n')

  await redis.kill()
  await program.says(/Redis: .*ECONNREFUSED/)
  await redis.restart()
  await expect.poll(() => counters.increment(8).catch(() => 0)).toBeGreaterThan(0)
  await expect.poll(() => items.votes()).toMatchObject({ 8: 1 })

  program.child.kill('SIGTERM')
  expect(await program.exit).toBe(0)
  expect(program.out().match(/does not exist/g)).toHaveLength(1)
  expect(program.out().match(/ECONNREFUSED/g)).toHaveLength(1)
})

test(
  'killed in the middle of its batches, again and again, it has written each increment once',
  LONG,
  async () => {
    const { items, counters, flush } = await overSqlite({ batchSize: 1 })
    const counted = await count(counters, 120)
    const rows = async (): Promise<number> => Object.keys(await items.votes()).length
    for (let kills = 0; kills < 3; kills++) {
      const before = await rows()
      const program = flush()
      await expect.poll(rows, { interval: 20 }).toBeGreaterThan(before + 5)
      program.child.kill('SIGKILL')
      await program.exit
    }
    expect(await rows()).toBeLessThan(121)

    const last = flush('--once')

    expect(await last.exit).toBe(0)
    expect(await items.votes()).toEqual({ 7: 40, ...counted })
    expect((await counters.inspect()).dirty).toBe(0)
  },
)

test('killed before it learnt of its commit, it has written the batch once', async () => {
  const proxy = await startProxy(await databasePort('postgres'), postgresPackets)
  onTestFinished(() => proxy.stop())
  const items = await postgresItems(proxy.port)
  const { counters, flush } = await setup(items, postgres(poolOf(items), NAMES))
  const program = flush()
  await program.says('flushing votes\n')
  await counters.increment(7)
  await expect.poll(async () => (await items.votes())['7']).toBe(41)

  proxy.delay(500)
  await counters.increment(7, 10)
  await expect.poll(async () => (await items.votes())['7'], { interval: 5 }).toBe(51)
  program.child.kill('SIGKILL')
  await program.exit
  proxy.delay(0)

  expect(await flush('--once').exit).toBe(0)
  expect(await items.votes()).toEqual({ 7: 51 })
})

test('it reports invalid arguments in one line, and ends with 1', LONG, async () => {
  const { flush } = await overSqlite()
  const asked: [program: Program, message: string][] = [
    [flush('likes'), 'perilune cannot flush: PERILUNE_COUNTERS has no likes; it has votes\n'],
    [
      flush('--once', '--wait', 'long'),
      "perilune cannot flush: --wait must be a duration such as 30s, not 'long'\n",
    ],
    [run(['flush'], { PERILUNE_COUNTERS: '' }), 'perilune cannot flush: there is nothing to flush: set'],
    [
      run(['flush'], { REDIS_URL: '', PERILUNE_COUNTERS: '{"a":{"database":"sqlite:a","table":"a"}}' }),
      'perilune cannot flush: flush needs REDIS_URL: the Redis where the counters are\n',
    ],
    [run(['flsh'], {}), 'there is no command flsh'],
  ]
  for (const [program, message] of asked) {
    expect(await program.exit).toBe(1)
    expect(program.err()).toContain(message)
    expect(program.err().trimEnd()).not.toContain('\n')
  }
  const help = run(['flush', '--help'], {})
  expect(await help.exit).toBe(0)
  expect(help.out()).toContain('perilune-server flush [NAME ...] [--once] [--wait SPAN]')
})

test('the command itself has help and a version', LONG, async () => {
  const [help, version] = [run(['--help'], {}), run(['--version'], {})]
  expect([await help.exit, await version.exit]).toEqual([0, 0])
  expect(help.out()).toContain('perilune-server flush [NAME ...] [--once] [--wait SPAN]')
  expect(version.out()).toMatch(/^\d+\.\d+\.\d+\n$/)
})

function poolOf({ entry }: Items): pg.Pool {
  const pool = new pg.Pool({ connectionString: entry.database })
  pool.on('error', () => undefined)
  onTestFinished(() => pool.end())
  return pool
}
