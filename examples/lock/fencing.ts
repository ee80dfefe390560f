// A holder sleeps beyond its lease, another one works meanwhile, and the late writes are rejected:
//   npx tsx examples/lock/fencing.ts
// A lock cannot stop who sleeps. What it protects can: it remembers the greatest token that wrote.

import { Redis } from 'ioredis'
import { LeaseLostError, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { Database } from './sqlite.ts'

/** Stops the whole process, as a long garbage collection or a paused machine does. */
function sleepDeeply(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** True when it was stored, false when a newer holder has written since. */
function updateRow(database: Database, price: number, fence: number): boolean {
  const [row] = database.query(
    'UPDATE prices SET price = $price, fence = $fence WHERE id = 7 AND fence <= $fence RETURNING price',
    { price, fence },
  )
  return row !== undefined
}

const client = new Redis(process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379')
const redis = perilune(ioredis(client), { namespace: 'example' })
using database = new Database()
database.query('CREATE TABLE prices (id INTEGER PRIMARY KEY, price INTEGER, fence INTEGER NOT NULL)')
database.query('INSERT INTO prices VALUES (7, 100, 0)')

const lock = redis.lock('price:7')
const inRedis = redis.fenced<number>('price:7')
const sleeper = await redis.lock('price:7', { lease: '300ms' }).acquire()
sleepDeeply(400)
await lock.run(
  async ({ token }) => {
    console.log('the next holder writes to Redis:', await inRedis.set(120, token))
    console.log('the next holder writes to SQL:', updateRow(database, 120, token))
  },
  { wait: '5s' },
)

console.log('the sleeper writes to Redis:', await inRedis.set(90, sleeper.token))
console.log('the sleeper writes to SQL:', updateRow(database, 90, sleeper.token))
console.log(
  'Redis:',
  (await inRedis.get())?.value,
  'SQL:',
  database.query('SELECT price FROM prices')[0]?.['price'],
)
await sleeper.release().catch((error: unknown) => {
  console.log('the sleeper lost its lease:', error instanceof LeaseLostError)
})

await redis.close()
client.disconnect()
