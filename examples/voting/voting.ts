// Votes that are rows of SQL, counted there and shown by Redis:
//   npx tsx examples/voting/voting.ts            # votes for some seconds, then serves until Ctrl-C
//   npx tsx examples/voting/voting.ts --load     # votes for some seconds, compares, ends

import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { Redis } from 'ioredis'
import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { openDatabase } from './open-database.ts'
import { Poll } from './poll.ts'
import { playLoad } from './report.ts'
import { Service } from './service.ts'

const { values: given } = parseArgs({
  options: {
    load: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '5' },
    'in-flight': { type: 'string', default: '32' },
    most: { type: 'string', default: '1000000' },
    port: { type: 'string', default: '8098' },
  },
})
const leaving = new AbortController()
process.once('SIGINT', () => leaving.abort())

const client = new Redis(process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379')
const redis = perilune(ioredis(client), { namespace: 'example' })
const database = await openDatabase(process.env['DATABASE_URL'])
const votes = redis.counters('votes', { events: database.events })
await votes.prepare()
// What Redis shows may be of another database, from an earlier run. Nothing is lost: SQL has all of it.
await votes.clear()
// Any number of processes may do so: each row is counted once.
const flushing = votes.flushEvery('1s', { onError: (error) => console.error(String(error)) })

const poll = new Poll(database, votes, await database.items())
const service = new Service(poll)
const url = await service.listen(Number(given.port))
console.log(`${database.place}; watch it at ${url}/`)

const terms = {
  seconds: Number(given.seconds),
  inFlight: Number(given['in-flight']),
  most: Number(given.most),
  signal: leaving.signal,
}
if (terms.seconds > 0 && !(await playLoad(poll, url, terms))) process.exitCode = 1
if (!given.load && !leaving.signal.aborted) {
  console.log('vote on the page; leave with Ctrl-C')
  await once(leaving.signal, 'abort')
}

await service[Symbol.asyncDispose]()
await flushing.close()
await redis.close()
client.disconnect()
await database.close()
