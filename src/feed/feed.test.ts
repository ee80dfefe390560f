import { describe, expect, onTestFinished, test } from 'vitest'
import { bodies, setup } from '../../test/feed-fixture.ts'

describe('the whole feed', () => {
  test('inspect counts exactly after messages have expired, lapsed and become due', async () => {
    const { feed, clock } = await setup<number>()
    await feed.appendMany(Array.from({ length: 1200 }, (_, body) => ({ body, ttl: '10s' })))
    await feed.appendMany(Array.from({ length: 7 }, (_, body) => ({ body, ttl: '1h' })))
    await feed.append(0, { delay: '5s' })
    await feed.claim({ limit: 3, lease: '1m' })
    await clock.advance(10_001)

    const seen = await feed.inspect()

    expect(seen).toMatchObject({ total: 11, free: 8, claimed: 3, delayed: 0 })
  })

  test('inspect does not count expired dead letters', async () => {
    const { feed, clock } = await setup<number>({ maxClaims: 1, deadLettersTtl: '10s' })
    await feed.appendMany(Array.from({ length: 1200 }, (_, body) => ({ body })))
    for (let claimed = 0; claimed < 1200; claimed += 400) await (await feed.claim({ limit: 400 }))?.release()
    while ((await feed.claim({ limit: 400 })) !== null || (await feed.inspect()).deadLetters < 1200);
    await clock.advance(10_001)

    expect((await feed.inspect()).deadLetters).toBe(0)
    expect((await feed.deadLetters.inspect()).total).toBe(0)
  })

  test('clear removes all keys, and old cursors are reported as a reset', async () => {
    const { feed, client, name, clock } = await setup<string>({ maxClaims: 1 })
    await feed.appendMany([
      { body: 'a', ttl: '1h' },
      { body: 'b', idempotencyKey: 'k' },
      { body: 'c', delay: '1h' },
    ])
    await feed.subscriber('ada', { protect: true }).cursor()
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

  test('an idle feed of expiring messages expires by itself', async () => {
    const { feed, client, name } = await setup<string>({ clock: 'real' })
    await feed.append('a', { ttl: '1m', idempotencyKey: 'k' })
    await feed.append('b', { ttl: '2m' })
    await feed.append('c', { ttl: '1m', delay: '1s' })
    await (await feed.claim())?.release()

    const keys = await client.keys(`*${name}*`)
    const lives = await Promise.all(keys.map((key) => client.pttl(key)))

    expect(keys.length).toBeGreaterThan(6)
    expect(lives.filter((ms) => ms <= 0)).toEqual([])
  })

  test('a feed with a message without ttl does not expire', async () => {
    const { feed, client, name } = await setup<string>({ clock: 'real' })
    await feed.append('a', { ttl: '1m' })
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
  ])('the name %j works and does not collide with another', async (name) => {
    const { redis } = await setup()
    const feed = redis.feed<string>(name)
    onTestFinished(async () => void (await feed.clear()))

    await feed.append(name)

    expect(bodies((await feed.read()).messages)).toEqual([name])
  })
})
