// A program for each public name that is measured: small, but one that uses what it imports, for each is run as well. It is
// given a port, and ends with `ok` once what it did is true.

export interface Program {
  /** The public name, without `perilune/`. */
  readonly name: string
  /** Between the connection `at` and its end. */
  readonly text: string
  readonly imports: string
  /** What makes `at` of a driver; default: `connect` of perilune/connection. */
  readonly start?: 'perilune'
  /** Default: ioredis. */
  readonly client?: 'node-redis'
}

// An error is of the root, which has everything: the rest of it must stay out.
const LOCK_IMPORTS = `import { WaitTimeoutError } from 'perilune'
import { lock } from 'perilune/lock'`
const LOCK = `
const lease = await lock(at, name).acquire()
await assert.rejects(lock(at, name).acquire(), WaitTimeoutError)
await lease.release()
assert.notEqual(await lock(at, name).tryAcquire(), null)`

export const PROGRAMS: readonly Program[] = [
  // What each of the others has, too.
  { name: 'a connection alone', imports: '', text: `\nassert.equal(typeof at.close, 'function')` },
  { name: 'lock', imports: LOCK_IMPORTS, text: LOCK },
  {
    name: 'lock, node-redis',
    imports: LOCK_IMPORTS,
    text: LOCK,
    client: 'node-redis',
  },
  {
    name: 'semaphore',
    imports: `import { semaphore } from 'perilune/semaphore'`,
    text: `
const permits = semaphore(at, name, { limit: 1 })
const permit = await permits.acquire()
assert.equal(await permits.tryAcquire(), null)
await permit.release()`,
  },
  {
    name: 'rate-limit',
    imports: `import { rateLimit } from 'perilune/rate-limit'`,
    text: `
const limit = rateLimit(at, name, { limit: 1, window: '1h' })
assert.equal((await limit.take('ada')).allowed, true)
assert.equal((await limit.take('ada')).allowed, false)`,
  },
  {
    name: 'once',
    imports: `import { once } from 'perilune/once'`,
    text: `
const orders = once(at, name)
assert.equal(await orders.run('order', () => 7), 7)
assert.equal(await orders.run('order', () => 8), 7)`,
  },
  {
    name: 'queue',
    imports: `import { queue } from 'perilune/queue'`,
    text: `
const mails = queue(at, name)
await mails.enqueue('welcome', { to: 'ada' })
const [job] = await mails.claim()
assert.deepEqual(job.payload, { to: 'ada' })
await job.ack()
assert.deepEqual(await mails.claim(), [])`,
  },
  {
    name: 'feed',
    imports: `import { feed } from 'perilune/feed'`,
    text: `
const room = feed(at, name)
await room.append('hello')
assert.equal((await room.read()).messages[0].body, 'hello')`,
  },
  {
    name: 'cache',
    imports: `import { cache } from 'perilune/cache'`,
    text: `
const products = cache(at, name)
assert.equal(await products.get('p-17', () => 'pen'), 'pen')
assert.equal(await products.get('p-17', () => 'ink'), 'pen')`,
  },
  {
    name: 'collection',
    imports: `import { collection } from 'perilune/collection'`,
    text: `
const colours = collection(at, name, { kind: 'list' })
await colours.replace(['red', 'blue'])
assert.deepEqual((await colours.read()).items, ['red', 'blue'])`,
  },
  {
    name: 'counters',
    imports: `import { counters } from 'perilune/counters'`,
    text: `
let seq = 0
const total = new Map()
const sink = {
  name: 'memory',
  missing: 'create',
  prepare: async () => {},
  read: async () => ({ seq, values: total }),
  begin: async () => 1,
  apply: async (batch) => {
    seq = batch.seq
    for (const { id, delta } of batch.changes) total.set(id, (total.get(id) ?? 0n) + delta)
    return 'applied'
  },
}
const views = counters(at, name, { sink, fsyncGrace: '0ms' })
await views.increment('/pricing')
await views.flush()
assert.equal(total.get('/pricing'), 1n)`,
  },
  {
    name: 'autocomplete',
    imports: `import { autocomplete } from 'perilune/autocomplete'`,
    text: `
const cities = autocomplete(at, name)
await cities.add('Turku')
assert.equal((await cities.suggest('tu'))[0].text, 'Turku')`,
  },
  {
    name: 'perilune',
    imports: '',
    text: `
const lease = await at.lock(name).acquire()
await lease.release()
await at.queue(name).enqueue('welcome', {})
assert.equal((await at.queue(name).claim()).length, 1)`,
    start: 'perilune',
  },
]

/** The whole text of a program. */
export function textOfProgram({ imports, text, start, client }: Program): string {
  const [made, driver] =
    client === 'node-redis'
      ? [`await createClient({ url: 'redis://127.0.0.1:' + process.argv[2] }).connect()`, 'nodeRedis']
      : ['new Redis(Number(process.argv[2]))', 'ioredis']
  return `import assert from 'node:assert/strict'
${client === 'node-redis' ? `import { createClient } from 'redis'` : `import { Redis } from 'ioredis'`}
import { ${start ?? 'connect'} } from '${start === 'perilune' ? 'perilune' : 'perilune/connection'}'
import { ${driver} } from 'perilune/${client ?? 'ioredis'}'
${imports}

const client = ${made}
const at = ${start ?? 'connect'}(${driver}(client), { namespace: 'sizes' })
const name = String(process.pid)
${text}
await at.close()
client.${client === 'node-redis' ? 'destroy' : 'disconnect'}()
console.log('ok')
`
}
