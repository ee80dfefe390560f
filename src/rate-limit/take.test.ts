import { Cluster } from 'ioredis'
import { type Decision, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { setup } from '../../test/rate-limit-fixture.ts'

function remaining(decision: Decision): number | undefined {
  return decision.outage ? undefined : decision.remaining
}

const outcome = (decision: Decision) => [decision.allowed, remaining(decision)]

test('a hundred takes of one tick share a few script calls, whatever their subjects', async () => {
  const { redis, name, calls } = await setup()
  const limiter = redis.rateLimit(name, { limit: 3, window: '1d' })
  await limiter.take('first')
  calls.length = 0

  const taken = await Promise.all(Array.from({ length: 100 }, (_, n) => limiter.take(`subject ${n}`)))

  expect(calls.length).toBeLessThanOrEqual(2)
  expect(taken.map(outcome)).toEqual(taken.map(() => [true, 2]))
})

test('a single take is one script call', async () => {
  const { redis, name, calls } = await setup()
  const limiter = redis.rateLimit(name, { limit: 3, window: '1d' })

  await limiter.take('ada')

  expect(calls).toEqual(['rate-limit/take-each'])
})

test('batched takes of one subject get the same decisions as one after the other', async () => {
  const { redis, name } = await setup()
  const options = { limit: 7, window: '1s', burst: 5 } as const
  const together = redis.rateLimit(name, options)
  const limits = { single: options, other: { limit: 100, window: '1s' } } as const
  const apart = redis.rateLimit(name, { limits })

  const taken = await Promise.all(Array.from({ length: 7 }, () => together.take('ada')))

  expect(taken.map(outcome)).toEqual([4, 3, 2, 1, 0, 0, 0].map((left, at) => [at < 5, left]))
  const tokens = taken.map((each) =>
    each.allowed ? each.token - (taken[0] as { token: number }).token : null,
  )
  expect(tokens).toEqual([0, 1, 2, 3, 4, null, null])
  // The same decisions by the script for single takes.
  for (const [at, decision] of taken.entries()) {
    const one = await apart.take('ada')
    expect(decision.allowed).toBe(one.allowed)
    expect(decision.limits?.['default'], `take ${at}`).toEqual(one.limits?.['single'])
  }
})

test('takes of one subject with different costs are decided in the order of the calls', async () => {
  const { redis, name, calls } = await setup()
  const limiter = redis.rateLimit(name, { limit: 10, window: '1d' })
  await limiter.get('ada')
  calls.length = 0

  const taken = await Promise.all([1, 6, 1, 4, 2].map((cost) => limiter.take('ada', { cost })))

  expect(taken.map(outcome)).toEqual([
    [true, 9],
    [true, 3],
    [true, 2],
    [false, 2],
    [true, 0],
  ])
  expect(calls).toHaveLength(5)
})

test('a rejected subject does not affect others', async () => {
  const { redis, name, client, keyOf } = await setup()
  const limiter = redis.rateLimit(name, { limit: 3, window: '1d', onOutage: 'fail-open' })
  await client.hset(keyOf('newer'), 'layout', '9')
  await client.set(keyOf('other'), 'text')
  onTestFinished(() => void client.del(keyOf('newer'), keyOf('other')))

  const settled = await Promise.allSettled(
    ['one', 'newer', 'other', 'two'].map((subject) => limiter.take(subject)),
  )

  expect(settled).toMatchObject([
    { status: 'fulfilled', value: { allowed: true, remaining: 2 } },
    { status: 'rejected', reason: { code: 'unknown-layout' } },
    { status: 'rejected', reason: { code: 'script-failed' } },
    { status: 'fulfilled', value: { allowed: true, remaining: 2 } },
  ])
  expect(await client.hgetall(keyOf('newer'))).toEqual({ layout: '9' })
})

test('takes have their own call slots, so that a concurrent refund is not mistaken for one', async () => {
  const { redis, name, client, keyOf } = await setup()
  const limiter = redis.rateLimit(name, { limit: 1000, window: '1d' })

  await Promise.all([limiter.take('bob'), limiter.refund('bob')])
  await Promise.all([limiter.take('bob'), limiter.refund('bob')])

  const callers = (await client.hkeys(keyOf('bob'))).filter((field) => field.includes('.'))
  expect(callers.map((caller) => caller.replace(/^.*\./, '')).toSorted()).toEqual(['0', '0t'])
})

test('on a cluster, takes of subjects in any slots are allowed up to the limit', async () => {
  const cluster = new Cluster(inject('clusterPorts').map((port) => ({ host: '127.0.0.1', port })))
  const redis = perilune(ioredis(cluster), { namespace: 'limit-test' })
  onTestFinished(async () => {
    await redis.close()
    cluster.disconnect()
  })
  const { name } = await setup()
  const limiter = redis.rateLimit(name, { limit: 3, window: '1d' })

  const subjects = Array.from({ length: 60 }, (_, n) => `subject ${n % 12}`)
  const taken = await Promise.all(subjects.map((subject) => limiter.take(subject)))

  expect(taken.filter(({ allowed }) => allowed)).toHaveLength(36)
  expect(taken.slice(36).map(({ allowed }) => allowed)).not.toContain(true)
})
