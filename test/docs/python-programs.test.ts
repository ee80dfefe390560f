// The Python programs of the pages, unchanged. They need Debian's python3-redis.
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import Database from 'libsql'
import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { sqlite } from 'perilune/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { blocksOf } from '../../tools/docs/pages.ts'
import { startRedis } from '../servers/redis.ts'
import { ROOT } from './programs.ts'

const FOLDER = join(ROOT, 'docs', 'structures')
const PAGES = readdirSync(FOLDER).filter((file) => file.endsWith('.md'))

/** The output of the program of a page. Rejects when it fails. */
async function output(page: string, port: number): Promise<string> {
  const blocks = blocksOf(readFileSync(join(FOLDER, page), 'utf8'))
  const program = blocks.find(({ info }) => info === 'python')?.text ?? ''
  const own = program.replace('redis.Redis()', `redis.Redis(port=${port})`)
  const env = { ...process.env, PYTHONPATH: join(ROOT, 'bindings', 'python') }
  const { stdout } = await promisify(execFile)('/usr/bin/python3', ['-c', own], { env })
  return stdout.trim()
}

async function setup(): Promise<number> {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  return redis.port
}

test('each runs to its end', async () => {
  const port = await setup()

  const printed = await Promise.all(PAGES.map(async (page) => [page, await output(page, port)]))

  expect(Object.fromEntries(printed)).toMatchObject({
    'autocomplete.md': "['Łódź']",
    'collection.md': 'replaced',
    'feed.md': "['hello']",
    'queue.md': 'welcome ada attempt 1\n[]',
  })
})

test('the one of counters counts what the library has loaded', async () => {
  const port = await setup()
  const client = new Redis(port)
  const redis = perilune(ioredis(client), { namespace: 'shop' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  const database = new Database(':memory:')
  database.exec('CREATE TABLE items (id INTEGER PRIMARY KEY, votes INTEGER NOT NULL DEFAULT 0)')
  const votes = redis.counters('votes', { sink: sqlite(database, { table: 'items', value: 'votes' }) })
  await votes.increment(7)

  expect(await output('counters.md', port)).toBe("['2'] []")
  expect(await votes.get(7)).toBe(2)
})
