import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import {
  bytes,
  type Driver,
  Feed,
  type FeedOptions,
  InvalidArgumentError,
  jsonText,
  LeaseLostError,
  type Perilune,
  perilune,
  text,
} from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import contract from '../../lua/contract.json' with { type: 'json' }
import { setTestClock, START_US, withTestClock } from '../testing/test-clock.ts'

interface Setup<Body> {
  feed: Feed<Body>
  redis: Perilune
  client: Redis
  name: string
  /** Names of the scripts run so far. */
  calls: string[]
  clock: { advance(ms: number): Promise<void> }
}

/** A feed of its own on a clock that stands still; with `clock: 'real'` on the server's. */
async function setup<Body = unknown>(
  options: FeedOptions<Body> & { clock?: 'real' } = {},
): Promise<Setup<Body>> {
  const { clock: kind, ...feedOptions } = options
  const client = new Redis(inject('redisPort'))
  const calls: string[] = []
  const plain = ioredis(client)
  const driver = counting(kind === 'real' ? plain : withTestClock(plain, contract.clock), calls)
  const redis = perilune(driver, { namespace: 'feed-test' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  // So that a call is one script run, whatever else the server has forgotten.
  await redis.preload()
  const name = randomUUID()
  let us = START_US
  const move = (): Promise<void> => setTestClock(plain, `feed-test:{feed:${name}}`, us)
  if (kind !== 'real') await move()
  const advance = async (ms: number): Promise<void> => {
    us += ms * 1000
    await move()
  }
  return { feed: redis.feed<Body>(name, feedOptions), redis, client, name, calls, clock: { advance } }
}

function counting(driver: Driver, calls: string[]): Driver {
  const run: Driver['run'] = (call) => {
    calls.push(call.script.name)
    return driver.run(call)
  }
  return Object.assign(Object.create(driver) as Driver, {
    run,
    info: () => driver.info(),
    close: () => driver.close(),
    healthy: () => driver.healthy(),
    load: (script: Parameters<Driver['load']>[0]) => driver.load(script),
    subscribe: (...args: Parameters<Driver['subscribe']>) => driver.subscribe(...args),
  })
}

const bodies = <Body>(messages: readonly { body: Body }[]): Body[] => messages.map(({ body }) => body)

describe('appending', () => {
  test('ids rise in the order of the calls', async () => {
    const { feed } = await setup<number>()

    const appended = await Promise.all([feed.append(1), feed.append(2), feed.append(3)])

    const page = await feed.read()
    expect(bodies(page.messages)).toEqual([1, 2, 3])
    expect(page.messages.map(({ id }) => id)).toEqual(appended.map(({ id }) => id))
  })

  test('a hundred appends of one tick travel in a few script calls', async () => {
    const { feed, calls } = await setup<number>()
    await feed.append(0)
    calls.length = 0

    await Promise.all(Array.from({ length: 100 }, (_, n) => feed.append(n)))

    expect(calls.length).toBeLessThanOrEqual(2)
    expect((await feed.inspect()).total).toBe(101)
  })

  test('handles of the same feed share their batches', async () => {
    const { redis, name, calls, feed } = await setup<number>()
    await feed.append(0)
    calls.length = 0

    await Promise.all(Array.from({ length: 50 }, (_, n) => redis.feed<number>(name).append(n)))

    expect(calls.length).toBeLessThanOrEqual(2)
  })

  test('no other message falls between those of one appendMany', async () => {
    const { feed } = await setup<string>()

    await Promise.all(
      Array.from({ length: 20 }, (_, by) =>
        feed.appendMany(Array.from({ length: 30 }, (_, n) => ({ body: `${by}.${n}` }))),
      ),
    )

    const { messages } = await feed.read({ limit: 1000 })
    const authors = bodies(messages).map((body) => body.split('.')[0])
    const changes = authors.filter((author, at) => author !== authors[at - 1])
    expect(changes).toHaveLength(20)
  })

  test('more messages than one call carries go in several, in order', async () => {
    const { feed, calls } = await setup<number>()

    const appended = await feed.appendMany(Array.from({ length: 2500 }, (_, body) => ({ body })))

    expect(appended).toHaveLength(2500)
    expect(calls.filter((name) => name === 'feed/append')).toHaveLength(3)
    const page = await feed.read({ limit: 1000, after: appended[1498]?.marker ?? '' })
    expect(page.messages[0]?.body).toBe(1499)
  })

  test('an idempotency key appends once and gives the first id again', async () => {
    const { feed, clock } = await setup<string>({ rememberFor: '1m' })

    const first = await feed.append('a', { idempotencyKey: 'k' })
    const again = await feed.append('b', { idempotencyKey: 'k' })
    await clock.advance(60_001)
    const later = await feed.append('c', { idempotencyKey: 'k' })

    expect(again).toMatchObject({ id: first.id, duplicate: true })
    expect(later.duplicate).toBe(false)
    expect(bodies((await feed.read()).messages)).toEqual(['a', 'c'])
  })

  test('the first append says that it began the feed', async () => {
    const { feed } = await setup<number>()

    expect((await feed.append(1)).began).toBe(true)
    expect((await feed.append(2)).began).toBe(false)
  })

  test('JSON text comes back to the letter', async () => {
    const { feed } = await setup<string>({ codec: jsonText })
    const exact = '{"n": 9007199254740993, "x":1e400,  "e":[], "u":"\\u00e9"}'

    await feed.append(exact)

    expect(bodies((await feed.read()).messages)).toEqual([exact])
  })

  test('bytes come back as they were', async () => {
    const { feed } = await setup<Uint8Array>({ codec: bytes })
    const all = Uint8Array.from({ length: 256 }, (_, n) => n)

    await feed.append(all)

    expect(Buffer.from((await feed.read()).messages[0]?.body ?? [])).toEqual(Buffer.from(all))
  })

  test('another codec than the one the feed was written with is refused', async () => {
    const { feed, redis, name } = await setup<number>()
    await feed.append(1)

    const other = redis.feed<string>(name, { codec: text })

    await expect(other.append('x')).rejects.toThrow(InvalidArgumentError)
    await expect(other.read()).rejects.toThrow('json')
  })
})

describe('reading', () => {
  test('one page is one script call', async () => {
    const { feed, calls } = await setup<number>()
    await feed.appendMany(Array.from({ length: 40 }, (_, body) => ({ body })))
    calls.length = 0

    const page = await feed.read({ limit: 20 })

    expect(page).toMatchObject({ more: true, gap: false, reset: false })
    expect(page.messages).toHaveLength(20)
    expect(calls).toEqual(['feed/read'])
  })

  test('a waiting reader is woken by an append', async () => {
    const { feed } = await setup<string>({ clock: 'real' })
    const { next } = await feed.read({ after: 'end' })

    const waiting = feed.read({ after: next, wait: '20s' })
    await sleep(100)
    await feed.append('now')

    expect(bodies((await waiting).messages)).toEqual(['now'])
  })

  test('waiting readers do not ask the server again and again', async () => {
    const { feed, calls } = await setup<string>({ clock: 'real' })
    const { next } = await feed.read({ after: 'end' })
    calls.length = 0

    await feed.read({ after: next, wait: '1500ms' })

    expect(calls.length).toBeLessThanOrEqual(3)
  })

  test('a delayed message wakes a reader when its time has come', async () => {
    const { feed } = await setup<string>({ clock: 'real' })
    await feed.append('late', { delay: '300ms' })

    const page = await feed.read({ wait: '20s' })

    expect(bodies(page.messages)).toEqual(['late'])
  })

  test('an empty page comes when the wait is over', async () => {
    const { feed } = await setup<string>({ clock: 'real' })
    await feed.append('old')
    const { next } = await feed.read()

    const page = await feed.read({ after: next, wait: '50ms' })

    expect(page).toMatchObject({ messages: [], next, more: false })
  })

  test('an abort ends the wait with its reason', async () => {
    const { feed } = await setup<string>({ clock: 'real' })
    const stop = new AbortController()

    const waiting = feed.read({ wait: '20s', signal: stop.signal })
    setTimeout(() => stop.abort(new Error('enough')), 50)

    await expect(waiting).rejects.toThrow('enough')
  })

  test('a follower meets every message and learns what was lost before it', async () => {
    const { feed } = await setup<number>({ keep: 5 })
    await feed.append(0)
    const { next } = await feed.read()
    await feed.appendMany(Array.from({ length: 8 }, (_, n) => ({ body: n + 1 })))
    await feed.append(9)

    const met: [number, string | null][] = []
    for await (const { body, lostBefore } of feed.tail({ after: next })) {
      met.push([body, lostBefore])
      if (body === 9) break
    }

    expect(met).toEqual([
      [5, 'gap'],
      [6, null],
      [7, null],
      [8, null],
      [9, null],
    ])
  })

  test('a page that hides everything still leads on', async () => {
    const { feed, redis, name } = await setup<number>({ origin: 'me' })
    await feed.appendMany(Array.from({ length: 3000 }, (_, body) => ({ body })))
    const other = redis.feed<number>(name, { origin: 'other' })
    await other.append(1)

    const page = await feed.read({ echo: false })

    expect(bodies(page.messages)).toEqual([1])
  })

  test('get finds by id in the order asked and leaves out what is not there', async () => {
    const { feed } = await setup<string>()
    const a = await feed.append('a')
    const b = await feed.append('b')
    const late = await feed.append('c', { delay: '1m' })

    const found = await feed.get([late.id, b.id, 'no-such-id', '12', a.id])

    expect(bodies(found)).toEqual(['c', 'b', 'a'])
    expect(found[0]?.marker).toBeNull()
  })
})

describe('claiming', () => {
  test('a claim of twenty is one script call, and nobody else gets them', async () => {
    const { feed, calls } = await setup<number>()
    await feed.appendMany(Array.from({ length: 30 }, (_, body) => ({ body })))
    calls.length = 0

    const first = await feed.claim({ limit: 20 })
    const second = await feed.claim({ limit: 20 })

    expect(calls).toEqual(['feed/claim', 'feed/claim'])
    expect(first?.messages).toHaveLength(20)
    expect(bodies(second?.messages ?? [])).toEqual([20, 21, 22, 23, 24, 25, 26, 27, 28, 29])
  })

  test('a claim that ran out is lost to its holder and free for others', async () => {
    const { feed, clock } = await setup<string>()
    await feed.append('work')
    const slow = await feed.claim({ lease: '10s' })
    await clock.advance(10_000)

    const quick = await feed.claim({ lease: '10s' })

    expect(bodies(quick?.messages ?? [])).toEqual(['work'])
    await expect(slow?.ack()).rejects.toThrow(LeaseLostError)
    await expect(slow?.extend('10s')).rejects.toThrow(LeaseLostError)
    await expect(slow?.release()).rejects.toThrow(LeaseLostError)
    expect(await quick?.ack()).toEqual([])
  })

  test('leaving the block gives back what was not acked', async () => {
    const { feed } = await setup<number>()
    await feed.appendMany([{ body: 1 }, { body: 2 }])

    {
      await using claim = await feed.claim()
      await claim?.ack([claim.messages[0]?.id ?? ''])
    }

    const next = await feed.claim()
    expect(bodies(next?.messages ?? [])).toEqual([2])
  })

  test('a waiting worker is woken when a message is given back', async () => {
    const { feed } = await setup<string>({ clock: 'real' })
    await feed.append('work')
    const held = await feed.claim({ lease: '1m' })

    const waiting = feed.claim({ wait: '20s' })
    await sleep(100)
    await held?.release()

    expect(bodies((await waiting)?.messages ?? [])).toEqual(['work'])
  })

  test('a waiting worker gets what a dead one held as soon as its lease is over', async () => {
    const { feed } = await setup<string>({ clock: 'real' })
    await feed.append('work')
    await feed.claim({ lease: '300ms' })

    const claim = await feed.claim({ wait: '20s' })

    expect(bodies(claim?.messages ?? [])).toEqual(['work'])
  })

  test('another process finds a claim by its token', async () => {
    const { feed, redis, name } = await setup<string>()
    await feed.append('work')
    const claim = await feed.claim({ lease: '30s' })

    const found = await redis.feed<string>(name).findClaim(claim?.token ?? 0)

    expect(bodies(found?.messages ?? [])).toEqual(['work'])
    expect(found?.leaseMs).toBe(30_000)
    expect(await feed.findClaim(1)).toBeNull()
  })

  test('the time left never exceeds what the server granted', async () => {
    const { feed } = await setup<string>({ clock: 'real' })
    await feed.append('work')

    const claim = await feed.claim({ lease: '10s' })

    expect(claim?.remainingMs).toBeLessThanOrEqual(10_000)
    expect(claim?.remainingMs).toBeGreaterThan(0)
  })

  test('messages claimed in vain become dead letters and can be moved to another feed once', async () => {
    const { feed, redis } = await setup<string>({ maxClaims: 2, clock: 'real' })
    const { id } = await feed.append('poison')
    for (let n = 0; n < 2; n++) await (await feed.claim())?.release()

    expect(await feed.claim()).toBeNull()

    const letters = await feed.deadLetters.read()
    expect(letters.messages.map((letter) => [letter.id, letter.body])).toEqual([[id, 'poison']])
    const target = redis.feed<string>(randomUUID())
    expect(await feed.moveDeadLetters(target)).toBe(1)
    expect(await feed.moveDeadLetters(target)).toBe(0)
    expect(bodies((await target.read()).messages)).toEqual(['poison'])
  })

  test('take removes what it returns', async () => {
    const { feed } = await setup<number>()
    await feed.appendMany([{ body: 1 }, { body: 2 }, { body: 3 }])

    expect(bodies(await feed.take({ limit: 2 }))).toEqual([1, 2])
    expect((await feed.inspect()).total).toBe(1)
    expect(bodies(await feed.take())).toEqual([3])
    expect(await feed.take()).toEqual([])
  })
})

describe('subscribers', () => {
  test('a subscriber goes on where it advanced to', async () => {
    const { feed } = await setup<string>()
    await feed.appendMany([{ body: 'a' }, { body: 'b' }, { body: 'c' }])
    const ada = feed.subscriber('ada')
    for await (const message of ada.read()) {
      await ada.advance(message.marker)
      if (message.body === 'b') break
    }

    const page = await feed.subscriber('ada').page()

    expect(bodies(page.messages)).toEqual(['c'])
  })

  test('retention waits for a protected subscriber', async () => {
    const { feed } = await setup<number>({ keep: 2 })
    const ada = feed.subscriber('ada', { protect: true })
    await ada.marker()

    await feed.appendMany(Array.from({ length: 5 }, (_, body) => ({ body })))
    const kept = await ada.page()
    await ada.advance(kept.next)
    await feed.append(5)

    expect(bodies(kept.messages)).toEqual([0, 1, 2, 3, 4])
    expect((await feed.inspect()).total).toBe(2)
  })

  test('a subscriber can be forgotten', async () => {
    const { feed } = await setup<number>()
    const ada = feed.subscriber('ada')
    const marker = await ada.marker()

    expect(await ada.forget()).toBe(true)
    expect(await ada.forget()).toBe(false)
    expect(await ada.advance(marker)).toBeNull()
  })
})

describe('the whole feed', () => {
  test('inspect counts exactly after things have expired, lapsed and come due', async () => {
    const { feed, clock } = await setup<number>()
    await feed.appendMany(Array.from({ length: 1200 }, (_, body) => ({ body, expireAfter: '10s' })))
    await feed.appendMany(Array.from({ length: 7 }, (_, body) => ({ body, expireAfter: '1h' })))
    await feed.append(0, { delay: '5s' })
    await feed.claim({ limit: 3, lease: '1m' })
    await clock.advance(10_001)

    const seen = await feed.inspect()

    expect(seen).toMatchObject({ total: 11, free: 8, claimed: 3, delayed: 0 })
  })

  test('after clear none of its keys is left, and old markers are told', async () => {
    const { feed, client, name, clock } = await setup<string>({ maxClaims: 1 })
    await feed.appendMany([
      { body: 'a', expireAfter: '1h' },
      { body: 'b', idempotencyKey: 'k' },
      { body: 'c', delay: '1h' },
    ])
    await feed.subscriber('ada', { protect: true }).marker()
    await (await feed.claim())?.release()
    await feed.claim()
    const { next } = await feed.read()

    expect(await feed.clear()).toBe(true)

    const left = await client.keys(`*${name}*`)
    expect(left).toEqual([`feed-test:{feed:${name}}:clock`])
    await clock.advance(1)
    await feed.append('new')
    expect(await feed.read({ after: next })).toMatchObject({ reset: true, messages: [{ body: 'new' }] })
    expect(await feed.clear()).toBe(true)
    expect(await feed.clear()).toBe(false)
  })

  test('an idle feed of expiring messages vanishes by itself', async () => {
    const { feed, client, name } = await setup<string>({ clock: 'real' })
    await feed.append('a', { expireAfter: '1m', idempotencyKey: 'k' })
    await feed.append('b', { expireAfter: '2m' })
    await feed.append('c', { expireAfter: '1m', delay: '1s' })
    await (await feed.claim())?.release()

    const keys = await client.keys(`*${name}*`)
    const lives = await Promise.all(keys.map((key) => client.pttl(key)))

    expect(keys.length).toBeGreaterThan(6)
    expect(lives.filter((ms) => ms <= 0)).toEqual([])
  })

  test('a feed that holds something that stays does not vanish', async () => {
    const { feed, client, name } = await setup<string>({ clock: 'real' })
    await feed.append('a', { expireAfter: '1m' })
    await feed.append('b')

    const keys = await client.keys(`*${name}*`)

    expect(await Promise.all(keys.map((key) => client.pttl(key)))).toEqual(keys.map(() => -1))
  })

  test.each([
    'plain',
    'with:colon',
    'with{brace',
    'with}brace',
    '{}',
    '}{',
    'with space',
    'percent%7B',
    'with{brace%',
    'ünïcödé 🌒',
    'quotes\'"`',
    'a'.repeat(512),
  ])('the name %j works and meets no other', async (name) => {
    const { redis } = await setup()
    const feed = redis.feed<string>(name)
    onTestFinished(async () => void (await feed.clear()))

    await feed.append(name)

    expect(bodies((await feed.read()).messages)).toEqual([name])
  })
})

describe('what is refused', () => {
  const refused: [string, string, (feed: Feed<unknown>, redis: Perilune) => unknown][] = [
    ['an empty name', 'name', (_, redis) => redis.feed('')],
    ['a name with a control character', 'name', (_, redis) => redis.feed('a\nb')],
    ['a name of half a surrogate pair', 'name', (_, redis) => redis.feed('\ud800')],
    ['a name over 512 bytes', 'name', (_, redis) => redis.feed('é'.repeat(257))],
    ['a name that is no text', 'name', (_, redis) => redis.feed(7 as never)],
    ['a namespace with a colon', 'namespace', () => perilune({} as Driver, { namespace: 'a:b' })],
    ['a duration without unit', 'expireAfter', (feed) => feed.append(1, { expireAfter: 500 as never })],
    ['a duration of another form', 'delay', (feed) => feed.append(1, { delay: '5sec' as never })],
    ['an unknown option', 'options.ttl', (feed) => feed.append(1, { ttl: '5s' } as never)],
    ['a body that JSON cannot hold', 'body', (feed) => feed.append(undefined)],
    ['a body that is too large', 'body', (feed) => feed.append('x'.repeat(4 * 1024 * 1024))],
    ['messages that are no list', 'messages', (feed) => feed.appendMany('abc' as never)],
    ['a message without body', 'message.body', (feed) => feed.appendMany([{}] as never)],
    ['a limit of nothing', 'limit', (feed) => feed.read({ limit: 0 })],
    ['a limit beyond a thousand', 'limit', (feed) => feed.claim({ limit: 1001 })],
    ['a limit with a fraction', 'limit', (feed) => feed.read({ limit: 1.5 })],
    ['a forged marker', 'after', (feed) => feed.read({ after: '1-2-3' })],
    ['a marker of another type', 'after', (feed) => feed.read({ after: 12 as never })],
    ['a lease of nothing', 'lease', (feed) => feed.claim({ lease: '0s' })],
    ['ids that are no list', 'ids', (feed) => feed.get('1' as never)],
    ['more than a thousand ids', 'ids', (feed) => feed.remove(Array.from({ length: 1001 }, String))],
    [
      'an idempotency key with a control character',
      'idempotencyKey',
      (feed) => feed.append(1, { idempotencyKey: '\u0000' }),
    ],
    ['an origin with spaces', 'origin', (_, redis) => redis.feed('a', { origin: 'a b' })],
    ['keeping nothing', 'keep.count', (_, redis) => redis.feed('a', { keep: 0 })],
    ['an unknown word in keep', 'keep.max', (_, redis) => redis.feed('a', { keep: { max: 1 } as never })],
    ['advancing to nowhere', 'marker', (feed) => feed.subscriber('ada').advance(null)],
  ]

  test.each(refused)('%s is refused by the name %s', async (_, argument, call) => {
    const { feed, redis, calls } = await setup()

    const error = await Promise.resolve()
      .then(() => call(feed, redis))
      .catch((reason: unknown) => reason)

    expect(error).toBeInstanceOf(InvalidArgumentError)
    expect(error).toMatchObject({ argument, code: 'invalid-argument' })
    expect(calls).toEqual([])
  })
})
