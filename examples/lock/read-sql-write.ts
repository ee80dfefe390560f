// Reads a hash of Redis, asks SQL, and writes back what both say, ten times at once:
//   npx tsx examples/lock/read-sql-write.ts
// No script can ask a database, so nothing but a lock keeps the three steps together. Where all data is in
// one slot of Redis, a script of a few lines does better.

import { Redis } from 'ioredis'
import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { Database } from './sqlite.ts'

const client = new Redis(process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379')
const redis = perilune(ioredis(client), { namespace: 'example' })
using database = new Database()
database.query('CREATE TABLE prices (id INTEGER PRIMARY KEY, price INTEGER)')
database.query('INSERT INTO prices VALUES (7, 25)')

const CART = 'example:cart:7'
await client.del(CART)

async function addOne(): Promise<void> {
  await redis.lock('cart:7').run(
    async (lease) => {
      const count = Number((await client.hget(CART, 'count')) ?? 0) + 1
      const [row] = database.query('SELECT price FROM prices WHERE id = 7')
      lease.assertHeld() // right before the write, for the question may have taken long
      await client.hset(CART, { count, total: count * Number(row?.['price']) })
    },
    { wait: '10s' },
  )
}

await Promise.all(Array.from({ length: 10 }, addOne))

const { count, total } = await client.hgetall(CART)
console.log(`${count} things cost ${total}`)

await client.del(CART)
await redis.close()
client.disconnect()
