// A user of several structures relies on this: the same argument means the same, and is rejected under the same name.

import { type Codec, type Duration, json, type Perilune, perilune, rateLimitHeaders, text } from 'perilune'
import * as express from 'perilune/express'
import * as fastify from 'perilune/fastify'
import * as hono from 'perilune/hono'
import { keyvStore } from 'perilune/keyv'
import { withIdempotency, withRateLimit, withResponseCache } from 'perilune/middleware'
import { nextCacheHandler } from 'perilune/next'
import { testClock } from 'perilune/testing'
import { describe, expect, test } from 'vitest'
import { PLACES, refusedBy, setup } from './fixture.ts'

type Call<Value> = (redis: Perilune, value: Value) => unknown

describe('a token is a whole number from 1 on', () => {
  const calls: [string, Call<number>][] = [
    ['lock.release', (redis, token) => redis.lock('a').byToken.release(token)],
    ['lock.extend', (redis, token) => redis.lock('a').byToken.extend(token, '1m')],
    ['lock.shared.release', (redis, token) => redis.lock('a').shared.byToken.release(token)],
    ['semaphore.release', (redis, token) => redis.semaphore('a', { limit: 1 }).byToken.release(token)],
    ['semaphore.extend', (redis, token) => redis.semaphore('a', { limit: 1 }).byToken.extend(token, '1m')],
    ['fenced.set', (redis, token) => redis.fenced('a').set(1, token)],
    ['once.complete', (redis, token) => redis.once('a').byToken.complete('k', token, 1)],
    ['once.extend', (redis, token) => redis.once('a').byToken.extend('k', token, '1m')],
    ['once.release', (redis, token) => redis.once('a').byToken.release('k', token)],
    ['feed.byToken.ack', (redis, token) => redis.feed('a').byToken.ack([{ token }])],
    ['feed.byToken.extend', (redis, token) => redis.feed('a').byToken.extend([{ token }])],
    ['feed.byToken.release', (redis, token) => redis.feed('a').byToken.release([{ token }])],
    ['feed.byToken.get', (redis, token) => redis.feed('a').byToken.get({ token })],
    [
      'feed in partitions, byToken.ack',
      (redis, token) => redis.feed('a', { partitions: 16 }).byToken.ack([{ partition: 0, token }]),
    ],
    [
      'feed in partitions, byToken.get',
      (redis, token) => redis.feed('a', { partitions: 16 }).byToken.get({ partition: 0, token: token }),
    ],
    ['queue.byToken.ack', (redis, token) => redis.queue('a').byToken.ack([{ id: 'b', token }])],
    ['queue.byToken.release', (redis, token) => redis.queue('a').byToken.release([{ id: 'b', token }])],
    ['rateLimit.release', (redis, token) => redis.rateLimit('a', PLACES).release('ada', token)],
    ['rateLimit.refund', (redis, token) => redis.rateLimit('a', PLACES).refund('ada', { token })],
  ]

  test.each(calls)('%s', async (_, call) => {
    const { redis } = setup()
    for (const token of [0, -1, 1.5, 2 ** 53]) expect(await refusedBy(() => call(redis, token))).toBe('token')
  })
})

describe('a lease lasts 10 ms to 30 days', () => {
  const calls: [string, Call<Duration>][] = [
    ['lock', (redis, lease) => redis.lock('a', { lease })],
    ['lock.extend', (redis, lease) => redis.lock('a').byToken.extend(1, lease)],
    ['locks', (redis, lease) => redis.locks(['a', 'b'], { lease })],
    ['election', (redis, lease) => redis.election('a', { lease })],
    ['semaphore', (redis, lease) => redis.semaphore('a', { limit: 1, lease })],
    ['semaphore.extend', (redis, lease) => redis.semaphore('a', { limit: 1 }).byToken.extend(1, lease)],
    ['once', (redis, lease) => redis.once('a', { lease })],
    ['once.extend', (redis, lease) => redis.once('a').byToken.extend('k', 1, lease)],
    ['feed.claim', (redis, lease) => redis.feed('a').claim({ lease })],
    ['feed.byToken.extend', (redis, lease) => redis.feed('a').byToken.extend([{ token: 1 }], lease)],
    ['queue.claim', (redis, lease) => redis.queue('a').claim({ lease })],
    [
      'queue.byToken.extend',
      (redis, lease) => redis.queue('a').byToken.extend([{ id: 'b', token: 1 }], lease),
    ],
    ['queue.work', (redis, lease) => redis.queue('a').work({}, { lease })],
    ['feed in partitions, claim', (redis, lease) => redis.feed('a', { partitions: 16 }).claim({ lease })],
    ['rateLimit', (redis, lease) => redis.rateLimit('a', { limits: { b: { ...PLACES, lease } } })],
  ]

  test.each(calls)('%s', async (_, call) => {
    const { redis } = setup()
    for (const lease of ['9ms', '31d'] as const) {
      expect(await refusedBy(() => call(redis, lease))).toMatch(/(^|\.)lease$/)
    }
  })
})

describe('an option with a wrong value is named', () => {
  const calls: [string, string, (redis: Perilune) => unknown][] = [
    ['lock', 'fair', (redis) => redis.lock('a', { fair: 'odd' as never })],
    ['semaphore', 'limit', (redis) => redis.semaphore('a', { limit: 0 })],
    ['rateLimit', 'limit', (redis) => redis.rateLimit('a', { limit: 0, window: '1s' })],
    ['rateLimit', 'lease', (redis) => redis.rateLimit('a', { ...PLACES, lease: '0s' })],
    [
      'rateLimit',
      'limits.b.limit',
      (redis) => redis.rateLimit('a', { limits: { b: { ...PLACES, limit: 0 } } }),
    ],
    ['feed', 'retention.count', (redis) => redis.feed('a', { retention: 0 })],
    ['once', 'resultTtl', (redis) => redis.once('a', { resultTtl: '0s' })],
    ['feed.read', 'limit', (redis) => redis.feed('a').read({ limit: 0 })],
    ['lock.acquire', 'wait', (redis) => redis.lock('a').acquire({ wait: '2h' })],
    ['queue.claim', 'limit', (redis) => redis.queue('a').claim({ limit: 0 })],
    ['queue.claim', 'wait', (redis) => redis.queue('a').claim({ wait: '2h' })],
    ['queue.enqueue', 'delay', (redis) => redis.queue('a').enqueue('b', 1, { delay: '366d' })],
    ['queue.jobs', 'limit', (redis) => redis.queue('a').jobs.list('ready', { limit: 0 })],
    ['once.run', 'wait', (redis) => redis.once('a').run('k', () => 1, { wait: '2h' })],
  ]

  test.each(calls)('%s: %s', async (_, argument, call) => {
    const { redis } = setup()
    expect(await refusedBy(() => call(redis))).toBe(argument)
  })
})

describe('an unknown option is named, wherever it occurs', () => {
  const odd = { odd: 1 } as object
  const calls: [string, (redis: Perilune) => unknown][] = [
    ['perilune', () => perilune({} as never, odd)],
    ['feed', (redis) => redis.feed('a', odd)],
    ['feed.append', (redis) => redis.feed('a').append(1, odd)],
    ['feed.read', (redis) => redis.feed('a').read(odd)],
    ['feed.tail', (redis) => redis.feed('a').tail(odd).next()],
    ['feed.remove', (redis) => redis.feed('a').remove([], odd)],
    ['feed.claim', (redis) => redis.feed('a').claim(odd)],
    ['feed.byToken.extend', (redis) => redis.feed('a').byToken.extend([{ token: 1 }], '1m', odd)],
    ['feed.pop', (redis) => redis.feed('a').pop(odd)],
    ['feed.subscriber', (redis) => redis.feed('a').subscriber('b', odd)],
    ['subscriber.advance', (redis) => redis.feed('a').subscriber('b').commit('1-1', odd)],
    ['subscriber.page', (redis) => redis.feed('a').subscriber('b').page(odd)],
    ['subscriber.read', (redis) => redis.feed('a').subscriber('b').read(odd).next()],
    ['feed in partitions', (redis) => redis.feed('a', odd)],
    ['feed in partitions, append', (redis) => redis.feed('a', { partitions: 16 }).append(1, odd)],
    ['feed in partitions, read', (redis) => redis.feed('a', { partitions: 16 }).read(odd)],
    ['feed in partitions, tail', (redis) => redis.feed('a', { partitions: 16 }).tail(odd).next()],
    ['feed in partitions, subscriber', (redis) => redis.feed('a', { partitions: 16 }).subscriber('b', odd)],
    [
      'partitionedSubscriber.advance',
      (redis) => redis.feed('a', { partitions: 16 }).subscriber('b').commit('1-1', odd),
    ],
    ['partitionedSubscriber.page', (redis) => redis.feed('a', { partitions: 16 }).subscriber('b').page(odd)],
    [
      'partitionedSubscriber.read',
      (redis) => redis.feed('a', { partitions: 16 }).subscriber('b').read(odd).next(),
    ],
    ['feed in partitions, remove', (redis) => redis.feed('a', { partitions: 16 }).remove([], odd)],
    ['feed in partitions, claim', (redis) => redis.feed('a', { partitions: 16 }).claim(odd)],
    [
      'feed in partitions, byToken.extend',
      (redis) => redis.feed('a', { partitions: 16 }).byToken.extend([{ partition: 0, token: 1 }], '1m', odd),
    ],
    ['feed in partitions, pop', (redis) => redis.feed('a', { partitions: 16 }).pop(odd)],
    ['catalog.list', (redis) => redis.catalog('a').list(odd)],
    ['lock', (redis) => redis.lock('a', odd)],
    ['lock.acquire', (redis) => redis.lock('a').acquire(odd)],
    ['lock.run', (redis) => redis.lock('a').run(() => 1, odd)],
    ['lock.acquireDetached', (redis) => redis.lock('a').acquireDetached(odd)],
    ['lock.shared.acquire', (redis) => redis.lock('a').shared.acquire(odd)],
    ['lock.shared.acquireDetached', (redis) => redis.lock('a').shared.acquireDetached(odd)],
    ['locks', (redis) => redis.locks(['a'], odd)],
    ['locks.run', (redis) => redis.locks(['a']).run(() => 1, odd)],
    ['locks.acquire', (redis) => redis.locks(['a']).acquire(odd)],
    ['election', (redis) => redis.election('a', odd)],
    ['election.campaign', (redis) => redis.election('a').campaign(() => undefined, odd)],
    ['fenced', (redis) => redis.fenced('a', odd)],
    ['semaphore', (redis) => redis.semaphore('a', { limit: 1, ...odd })],
    ['semaphore.tryAcquire', (redis) => redis.semaphore('a', { limit: 1 }).tryAcquire(odd)],
    ['semaphore.acquire', (redis) => redis.semaphore('a', { limit: 1 }).acquire(odd)],
    ['semaphore.run', (redis) => redis.semaphore('a', { limit: 1 }).run(() => 1, odd)],
    ['semaphore.acquireDetached', (redis) => redis.semaphore('a', { limit: 1 }).acquireDetached(odd)],
    ['once', (redis) => redis.once('a', odd)],
    ['once.run', (redis) => redis.once('a').run('k', () => 1, odd)],
    ['once.begin', (redis) => redis.once('a').begin('k', odd)],
    ['once.beginDetached', (redis) => redis.once('a').beginDetached('k', odd)],
    ['cache', (redis) => redis.cache('a', odd)],
    ['cache.get', (redis) => redis.cache('a').get('k', () => 1, odd)],
    ['cache.getMany', (redis) => redis.cache('a').getMany(['k'], () => new Map(), odd)],
    ['cache.set', (redis) => redis.cache('a').set('k', 1, odd)],
    ['queue', (redis) => redis.queue('a', odd)],
    ['queue.enqueue', (redis) => redis.queue('a').enqueue('b', 1, odd)],
    ['queue.claim', (redis) => redis.queue('a').claim(odd)],
    ['queue.work', (redis) => redis.queue('a').work({}, odd)],
    ['queue.jobs.list', (redis) => redis.queue('a').jobs.list('ready', odd)],
    ['queue.claimDetached', (redis) => redis.queue('a').claimDetached(odd)],
    ['queue.events', (redis) => redis.queue('a').events(odd).next()],
    ['queue.stats', (redis) => redis.queue('a').stats(odd)],
    [
      'worker.close',
      async (redis) => {
        await using worker = redis.queue('a').work({})
        await worker.close(odd)
      },
    ],
    ['queue.jobs.search', (redis) => redis.queue('a').jobs.search(odd)],
    ['queue.jobs.tags', (redis) => redis.queue('a').jobs.tags(odd)],
    ['queue.jobs.tracked', (redis) => redis.queue('a').jobs.tracked(odd)],
    ['queue.jobs.waitForResult', (redis) => redis.queue('a').jobs.waitForResult('b', odd)],
    ['queue.recurring.list', (redis) => redis.queue('a').recurring.list(odd)],
    ['partitionedQueue', (redis) => redis.queue('b', { partitions: 2, ...odd })],
    ['partitionedQueue.claim', (redis) => redis.queue('b', { partitions: 2 }).claim(odd)],
    ['partitionedQueue.claimDetached', (redis) => redis.queue('b', { partitions: 2 }).claimDetached(odd)],
    ['partitionedQueue.events', (redis) => redis.queue('b', { partitions: 2 }).events(odd).next()],
    ['partitionedQueue.stats', (redis) => redis.queue('b', { partitions: 2 }).stats(odd)],
    ['partitionedQueue.jobs.list', (redis) => redis.queue('b', { partitions: 2 }).jobs.list('ready', odd)],
    ['partitionedQueue.jobs.tags', (redis) => redis.queue('b', { partitions: 2 }).jobs.tags(odd)],
    ['partitionedQueue.recurring.list', (redis) => redis.queue('b', { partitions: 2 }).recurring.list(odd)],
    ['collection', (redis) => redis.collection('a', { kind: 'list', ...odd })],
    ['collection.replace', (redis) => redis.collection('a', { kind: 'list' }).replace([], odd)],
    ['collection.read', (redis) => redis.collection('a', { kind: 'list' }).read(odd)],
    ['autocomplete', (redis) => redis.autocomplete('a', odd)],
    ['autocomplete.add', (redis) => redis.autocomplete('a').add('b', odd)],
    ['autocomplete.suggest', (redis) => redis.autocomplete('a').suggest('b', odd)],
    ['cache.loadDetached', (redis) => redis.cache('a').loadDetached('k', odd)],
    ['cache.complete', (redis) => redis.cache('a').byToken.complete('k', 'l', 1, odd)],
    ['rateLimit', (redis) => redis.rateLimit('a', { ...PLACES, ...odd })],
    ['rateLimit.take', (redis) => redis.rateLimit('a', PLACES).take('ada', odd)],
    ['rateLimit.peek', (redis) => redis.rateLimit('a', PLACES).get('ada', odd)],
    ['rateLimit.refund', (redis) => redis.rateLimit('a', PLACES).refund('ada', odd)],
    ['rateLimitHeaders', () => rateLimitHeaders({ allowed: true, outage: true } as never, odd)],
    [
      'withRateLimit',
      (redis) =>
        withRateLimit(redis.rateLimit('a', PLACES), { subject: () => 'ada', ...odd }, () => new Response()),
    ],
    ['withIdempotency', (redis) => withIdempotency(redis.once('a'), odd, () => new Response())],
    ['withResponseCache', (redis) => withResponseCache(redis.cache('a'), odd, () => new Response())],
    ['express: rateLimit', (redis) => express.rateLimit(redis.rateLimit('a', PLACES), odd as never)],
    ['express: idempotency', (redis) => express.idempotency(redis.once('a'), odd)],
    ['express: responseCache', (redis) => express.responseCache(redis.cache('a'), odd)],
    ['fastify: rateLimit', (redis) => fastify.rateLimit(redis.rateLimit('a', PLACES), odd as never)],
    ['fastify: idempotency', (redis) => fastify.idempotency(redis.once('a'), odd)],
    ['fastify: responseCache', (redis) => fastify.responseCache(redis.cache('a'), odd)],
    ['hono: rateLimit', (redis) => hono.rateLimit(redis.rateLimit('a', PLACES), odd as never)],
    ['hono: idempotency', (redis) => hono.idempotency(redis.once('a'), odd)],
    ['hono: responseCache', (redis) => hono.responseCache(redis.cache('a'), odd)],
    ['keyvStore', (redis) => keyvStore(redis.cache('a'), odd)],
    ['nextCacheHandler', (redis) => nextCacheHandler(redis.cache('a'), odd)],
    ['testClock', (redis) => testClock(redis, odd)],
  ]

  test.each(calls)('%s', async (_, call) => {
    const { redis } = setup()
    expect(await refusedBy(() => call(redis))).toBe('options.odd')
  })

  const inner: [string, (redis: Perilune) => unknown][] = [
    ['message', (redis) => redis.feed('a').appendMany([{ body: 1, ...odd }])],
    ['message', (redis) => redis.feed('a', { partitions: 16 }).appendMany([{ body: 1, ...odd }])],
    ['claim', (redis) => redis.feed('a').byToken.release([{ token: 1, ...odd }])],
    [
      'claim',
      (redis) => redis.feed('a', { partitions: 16 }).byToken.ack([{ partition: 0, token: 1, ...odd }]),
    ],
    ['retention', (redis) => redis.feed('a', { retention: odd })],
    ['l1', (redis) => redis.cache('a', { l1: { count: 1, ...odd } })],
    ['hooks', (redis) => redis.cache('a', { hooks: odd })],
    ['what', (redis) => redis.cache('a').invalidate({ tag: 'b', ...odd })],
    ['limits.b', (redis) => redis.rateLimit('a', { limits: { b: { ...PLACES, ...odd } } })],
    ['entries[0]', (redis) => redis.autocomplete('a').addMany([{ text: 'b', ...odd }])],
  ]

  test('a queue names its known options, and rejects a string as options', async () => {
    const { redis } = setup()
    const known = 'options.partitons is not known; known are codec, schemas, partitions, hooks'
    expect(() => redis.queue('a', { partitons: 2 } as object)).toThrow(known)
    expect(await refusedBy(() => redis.queue('a', 'b' as never))).toBe('options')
  })

  test.each(inner)('%s.odd', async (inside, call) => {
    const { redis } = setup()
    expect(await refusedBy(() => call(redis))).toBe(`${inside}.odd`)
  })

  test('a rejected call creates no subscriber', async () => {
    const { redis, name } = setup()
    await redis.feed(name).append(1)
    const after = { after: '1-1' } as object
    expect(await refusedBy(() => redis.feed(name).subscriber('b').page(after))).toBe('options.after')
    expect(await refusedBy(() => redis.feed(name).subscriber('b').read(after).next())).toBe('options.after')
    expect((await redis.feed(name).inspect()).subscribers).toBe(0)
  })

  test('an option that would be ignored is unknown: a take has no lease, an election no fairness', async () => {
    const { redis } = setup()
    const [lease, fair] = [{ lease: '1m' } as object, { fair: false } as object]
    expect(await refusedBy(() => redis.feed('a').pop(lease))).toBe('options.lease')
    expect(await refusedBy(() => redis.feed('a', { partitions: 16 }).pop(lease))).toBe('options.lease')
    expect(await refusedBy(() => redis.election('a', fair))).toBe('options.fair')
  })
})

describe('a wrong value for a required argument is rejected before anything is sent', () => {
  // `text`, `bytes` and `jsonText` are codecs, `json` makes one, and is called like it.
  const none = [json, JSON, 'json', null, { name: 'own', encode: String }, { ...text, name: '' }]
  const codecs: [string, (redis: Perilune, codec: Codec<never>) => unknown][] = [
    ['feed', (redis, codec) => redis.feed('a', { codec })],
    ['feed in partitions', (redis, codec) => redis.feed('a', { codec })],
    ['queue', (redis, codec) => redis.queue('a', { codec })],
    ['partitionedQueue', (redis, codec) => redis.queue('a', { partitions: 2, codec })],
    ['once', (redis, codec) => redis.once('a', { codec })],
    ['cache', (redis, codec) => redis.cache('a', { codec })],
    ['fenced', (redis, codec) => redis.fenced('a', { codec })],
    ['autocomplete', (redis, codec) => redis.autocomplete('a', { codec })],
    ['list', (redis, codec) => redis.collection('a', { kind: 'list', codec })],
    ['set', (redis, codec) => redis.collection('a', { kind: 'set', codec })],
    ['hash', (redis, codec) => redis.collection('a', { kind: 'hash', codec })],
    ['sortedSet', (redis, codec) => redis.collection('a', { kind: 'sortedSet', codec })],
  ]

  test.each(codecs)('a codec of %s', async (_, call) => {
    const { redis } = setup()
    for (const codec of none) expect(await refusedBy(() => call(redis, codec as never))).toBe('codec')
    expect(await refusedBy(() => call(redis, text as never))).toBe(null)
  })

  const tasks: [string, (redis: Perilune, name: string, task: never) => unknown][] = [
    ['lock.run', (redis, name, task) => redis.lock(name).run(task)],
    ['lock.shared.run', (redis, name, task) => redis.lock(name).shared.run(task)],
    ['locks.run', (redis, name, task) => redis.locks([name]).run(task)],
    ['semaphore.run', (redis, name, task) => redis.semaphore(name, { limit: 1 }).run(task)],
    ['once.run', (redis, name, task) => redis.once(name).run('k', task)],
  ]

  test.each(tasks)('a task of %s', async (_, call) => {
    const { redis, name } = setup()
    for (const task of [undefined, {}]) {
      expect(await refusedBy(() => call(redis, name, task as never))).toBe('task')
    }
  })

  test('what an election calls', async () => {
    const { redis, name } = setup()
    expect(await refusedBy(() => redis.election(name).campaign({} as never))).toBe('onElected')
  })

  const signals: [string, (redis: Perilune, signal: AbortSignal) => unknown][] = [
    ['lock.acquire', (redis, signal) => redis.lock('a').acquire({ signal })],
    ['feed.read', (redis, signal) => redis.feed('a').read({ signal })],
    ['feed.tail', (redis, signal) => redis.feed('a').tail({ signal }).next()],
    ['queue.claim', (redis, signal) => redis.queue('a').claim({ signal })],
    ['queue.work', (redis, signal) => redis.queue('a').work({}, { signal })],
    ['once.run', (redis, signal) => redis.once('a').run('k', () => 1, { signal })],
    ['cache.get', (redis, signal) => redis.cache('a').get('k', () => 1, { signal })],
  ]

  test.each(signals)('a signal of %s', async (_, call) => {
    const { redis } = setup()
    const controller = new AbortController() as unknown as AbortSignal
    expect(await refusedBy(() => call(redis, controller))).toBe('signal')
  })
})
