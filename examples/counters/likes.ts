// Likes of posts, counted in Redis and flushed to a table of SQLite:
//   npx tsx examples/counters/likes.ts 20000

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import Database from 'libsql'
import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { sqlite } from 'perilune/sqlite'

const POSTS = 100
const AT_ONCE = 100

const total = Number(process.argv[2] ?? 20_000)
const folder = mkdtempSync(join(tmpdir(), 'likes-'))
const database = new Database(join(folder, 'likes.db'))
database.exec('CREATE TABLE posts (id INTEGER PRIMARY KEY, likes INTEGER NOT NULL DEFAULT 0)')

const client = new Redis(process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379')
const redis = perilune(ioredis(client), { namespace: 'example' })
const sink = sqlite(database, { table: 'posts', value: 'likes' })
// Its Redis may lose data: the example starts from scratch each time.
const likes = redis.counters('likes', { sink, partitions: 4, fsyncGrace: '0s' })
await likes.clear()

// As three processes would.
const flushing = [1, 2, 3].map(() =>
  likes.flushEvery('1s', { onError: (error) => console.error(String(error)) }),
)
const began = performance.now()
let counted = 0
async function like(): Promise<void> {
  while (counted < total) {
    // The first posts are liked most.
    const post = Math.floor(POSTS * Math.random() ** 3) + 1
    counted += 1
    await likes.increment(post)
  }
}
await Promise.all(Array.from({ length: AT_ONCE }, like))
const seconds = (performance.now() - began) / 1000
console.log(`${counted} likes in ${seconds.toFixed(1)} s`)
const { dirty, lagMs } = await likes.inspect()
console.log(`${dirty} counters are not flushed yet, the oldest increment of them for ${lagMs ?? 0} ms`)

await Promise.all(flushing.map((each) => each.close()))
const { sum } = database.prepare('SELECT SUM(likes) AS sum FROM posts').get() as { sum: number }
console.log(sum === counted ? `the table has all ${sum}` : `the table has ${sum}, which is wrong`)

await redis.close()
client.disconnect()
database.close()
rmSync(folder, { recursive: true })
