// Four processes run random operations on the same units and are killed now and then: the stored data stays consistent.
// And the auditor that checks this finds inconsistent data.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { forkProgram } from '../programs/fork.ts'
import { seeded } from '../soak/random.ts'
import { audit } from './audit.ts'

const PROCESSES = 4
const LONG = process.env['PERILUNE_LONG'] === '1'
const SECONDS = LONG ? 120 : 6
const SEED = Number(process.env['PERILUNE_SEED'] ?? 1)

function open(): { client: Redis; namespace: string } {
  const client = new Redis(inject('redisPort'))
  onTestFinished(() => client.disconnect())
  return { client, namespace: `audit-${randomUUID()}` }
}

/** One slot for a process: a killed process is replaced by another one. */
class Place {
  readonly complaints: string[] = []
  readonly #start: () => ReturnType<typeof forkProgram>
  #child: ReturnType<typeof forkProgram> | null = null

  constructor(namespace: string, seeds: () => number) {
    const program = new URL('user.ts', import.meta.url)
    this.#start = () => {
      const child = forkProgram(program, [String(inject('redisPort')), namespace, String(seeds())])
      child.on('message', (message) => message !== 'begins' && this.complaints.push(JSON.stringify(message)))
      return child
    }
  }

  async begin(): Promise<void> {
    const child = this.#start()
    this.#child = child
    await new Promise((resolve) => child.once('message', resolve))
  }

  kill(): void {
    this.#child?.kill('SIGKILL')
  }

  /** Resolves when it has ended by itself. */
  async end(): Promise<void> {
    const child = this.#child
    if (child === null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.send('stop')
    await ended
  }
}

test(`what ${PROCESSES} processes have left agrees, seed ${SEED}`, {
  timeout: (SECONDS + 60) * 1000,
}, async () => {
  const { client, namespace } = open()
  const random = seeded(SEED)
  const places = Array.from(
    { length: PROCESSES },
    () => new Place(namespace, () => Math.floor(random() * 2 ** 31)),
  )
  onTestFinished(() => places.forEach((place) => place.kill()))
  await Promise.all(places.map((place) => place.begin()))
  const over = Date.now() + SECONDS * 1000
  while (Date.now() < over) {
    await new Promise((resolve) => setTimeout(resolve, 300 + random() * 700))
    expect(await audit(client, namespace)).toEqual([])
    const place = places[Math.floor(random() * PROCESSES)] as Place
    place.kill()
    await place.begin()
  }
  await Promise.all(places.map((place) => place.end()))

  expect(await audit(client, namespace)).toEqual([])
  expect(places.flatMap(({ complaints }) => complaints)).toEqual([])
  const structures = (await client.keys(`${namespace}:*`)).map((key) => /\{([a-z-]+)/.exec(key)?.[1])
  expect(new Set(structures)).toEqual(
    new Set(['cache', 'collection', 'feed', 'lock', 'once', 'queue', 'rate-limit', 'semaphore']),
  )
})

/** A planted inconsistency, how it is planted, and the expected report of the auditor. */
const DAMAGES: readonly [what: string, command: (at: string) => [string, ...string[]], said: RegExp][] = [
  ['a permit without its entry', (at) => ['HDEL', `${at}:{semaphore:s}:ids`, 'token'], /has no entry/],
  [
    'a permit that is not counted',
    (at) => ['ZADD', `${at}:{semaphore:s}:permits`, '1', '5'],
    /permits weigh|no entry/,
  ],
  [
    'a reader beside a holder',
    (at) => ['ZADD', `${at}:{lock:l}:readers`, '9999999999999', '7'],
    /readers hold it in mode x/,
  ],
  [
    'a ticket without a waiter',
    (at) => ['ZADD', `${at}:{lock:l}:queue`, '1', 'p.1 x 1 1 1 h'],
    /the state says none/,
  ],
  [
    'a message without its bytes',
    (at) => ['XADD', `${at}:{feed:f}:log`, '9999999999999999-0', 'b', 'body'],
    /above the newest position/,
  ],
  ['a body that is gone', (at) => ['DEL', `${at}:{feed:f}:bodies`], /the body of \d+ is not there/],
  ['a claim without a lease', (at) => ['DEL', `${at}:{feed:f}:leases`], /has no lease/],
  ['a message that cannot be claimed', (at) => ['DEL', `${at}:{feed:f}:claimed`], /neither claimed nor free/],
  ['a job in no place', (at) => ['DEL', `${at}:{queue:q}:ready`], /stands nowhere/],
  ['an item too many', (at) => ['RPUSH', `${at}:{collection:c}:items`, 'x'], /items, and the state says/],
  ['a key without an end', (at) => ['PERSIST', `${at}:{once:o:k}:state`], /it never goes/],
  ['a subject without an end', (at) => ['PERSIST', `${at}:{rate-limit:r:u}:state`], /it never goes/],
  ['a value without an end', (at) => ['PERSIST', `${at}:{cache:v:k}:value`], /value never goes/],
  ['an unknown part', (at) => ['SET', `${at}:{once:o:k}:other`, '1'], /other is no part of it/],
]

test.each(DAMAGES)('%s is seen', async (_, command, said) => {
  const { client, namespace } = open()
  const redis = perilune(ioredis(client), { namespace })
  onTestFinished(() => redis.close())
  await redis.lock('l').acquire()
  const permit = await redis.semaphore('s', { limit: 3 }).acquire()
  const feed = redis.feed<string>('f')
  await feed.appendMany([{ body: 'x'.repeat(20_000) }, { body: 'b' }])
  await feed.claim({ limit: 1 })
  await redis.queue<Record<string, number>>('q').enqueue('job', 1)
  await redis.collection<number>('c', { kind: 'list' }).replace([1, 2])
  await redis.once<number>('o').run('k', () => 1)
  await redis.rateLimit('r', { limit: 3, window: '1h' }).take('u')
  await redis.cache<string>('v').set('k', 'value')
  expect(await audit(client, namespace)).toEqual([])

  const [name, ...args] = command(namespace)
  await client.call(name, ...args.map((arg) => (arg === 'token' ? String(permit.token) : arg)))

  expect((await audit(client, namespace)).join('\n')).toMatch(said)
})
