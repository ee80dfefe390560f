import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Driver, type Duration, type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { instance } from '../../../test/instance.ts'
import { type Payloads, setup, until } from '../../../test/queue-fixture.ts'
import { silencing } from '../../../test/silencing-driver.ts'
import { partitionOf } from '../../runtime/partitions/partition-hash.ts'
import type { ClaimedJob } from '../claims/claimed-job.ts'
import type { Queue } from '../queue.ts'

const dependent = { name: 'mail', payload: { to: 'dependent' } } as const
/** Shorter than the deadline of unanswered calls, and than the pauses after failed tries. */
const SOON = { timeout: 20_000 }

/** As in a process of its own. */
function elsewhere(): Perilune {
  const client = new Redis(inject('redisPort'))
  onTestFinished(() => client.disconnect())
  return perilune(ioredis(client), { namespace: 'queue-test' })
}

describe('an entry for another queue', () => {
  test.each(['advance', 'ack', 'fail', 'cancel'] as const)(
    'is delivered once the instance that created it by %s has closed, without further claims',
    async (how) => {
      const { queue, another, name } = await setup({ clock: 'real' })
      const other = await another()
      const { id } = await other.enqueue('image', { url: 'dependency' })
      if (how !== 'advance') {
        await queue.enqueueMany([
          { ...dependent, dependsOn: [{ queue: other.name, id }], onDependencyFailure: 'run' },
        ])
      }
      const process = elsewhere()
      const same = process.queue<Payloads>(other.name)
      const [job] = how === 'cancel' ? [] : await same.claim()

      if (how === 'cancel') await same.jobs.cancel([id])
      else if (how === 'advance') await job?.ackAndEnqueue({ queue: name, ...dependent })
      else await (job as ClaimedJob)[how]()
      await process.close()

      expect(await queue.inspect()).toMatchObject({ ready: 1, blocked: 0 })
      expect(await other.inspect()).toMatchObject({ outbox: 0 })
    },
  )

  test('is delivered, also to a partition that was never used before', async () => {
    const { redis, name } = await setup({ clock: 'real' })
    const partitions = 8
    const groups = ['a', 'b', 'c', 'd', 'e', 'f'].map((group) => partitionOf(group, partitions, 'group'))
    const there = groups.findIndex((each) => each !== groups[0])
    const process = elsewhere()
    const same = process.queue<Payloads>(name, { partitions })
    await same.enqueue('image', { url: 'a' }, { group: 'a' })
    const [job] = await same.claim()

    await job?.ackAndEnqueue({ ...dependent, group: 'abcdef'.charAt(there) })
    await process.close()

    expect(await redis.queue(name, { partitions }).inspect()).toMatchObject({ ready: 1, outbox: 0 })
  })

  test('is delivered after an outage of the other queue without further claims', async () => {
    const { queue, another, client, calls } = await setup({ clock: 'real' })
    const other = await another()
    await other.enqueue('image', { url: 'far' })
    await other.jobs.cancel([(await other.jobs.list('ready')).jobs[0]?.id ?? ''])
    await client.hset(`queue-test:{queue:${other.name}}:meta`, 'layout', '99')
    await queue.enqueue('image', { url: 'near' })

    await (await queue.claim())[0]?.ackAndEnqueue({ queue: other.name, ...dependent })
    await until(() => calls.includes('queue/receive'))
    await client.hset(`queue-test:{queue:${other.name}}:meta`, 'layout', '1')

    await until(async () => (await other.inspect()).ready === 1)
    await until(async () => (await queue.inspect()).outbox === 0)
  })
})

/** Makes another queue reject everything, or serve again. */
async function setAway(client: Redis, name: string, isAway: boolean): Promise<void> {
  await client.hset(`queue-test:{queue:${name}}:meta`, 'layout', isAway ? '99' : '1')
}

describe('an entry that could not be delivered', () => {
  test('is delivered by a closing instance if the other queue is reachable again', async () => {
    const { queue, another, client, name } = await setup({ clock: 'real' })
    const other = await another()
    const process = elsewhere()
    const same = process.queue<Payloads>(name)
    await other.enqueue('image', { url: 'first' })
    await queue.enqueue('image', { url: 'near' })
    await setAway(client, other.name, true)
    await (await same.claim())[0]?.ackAndEnqueue({ queue: other.name, ...dependent })
    await new Promise((resolve) => setTimeout(resolve, 100))

    await setAway(client, other.name, false)
    await process.close()

    expect(await other.inspect()).toMatchObject({ ready: 2 })
    expect(await queue.inspect()).toMatchObject({ outbox: 0 })
  })

  test('is retried even if a try that does not include it is about to succeed', async () => {
    const { redis, driver, calls, client, name } = instance()
    const open = (part: string) => redis.queue<Payloads>(`${name} ${part}`)
    const [queue, one, two] = [open('queue'), open('one'), open('two')]
    const away = (part: string, is: string) =>
      client.hset(`instance-test:{queue:${name} ${part}}:meta`, 'layout', is)
    let release = (): void => undefined
    const opened = new Promise<void>((resolve) => (release = resolve))
    const { run } = driver
    driver.run = async (call) => {
      const reply = await run(call)
      if (call.script.name === 'queue/delivered') await opened
      return reply
    }
    for (const each of [queue, queue, one, two]) await each.enqueue('image', { url: 'first' })
    const [first, second] = await queue.claim({ limit: 2 })
    await away('one', '99')
    await away('two', '99')
    await first?.ackAndEnqueue({ queue: one.name, ...dependent })
    await until(() => calls.includes('queue/receive'))
    await new Promise((resolve) => setTimeout(resolve, 50))
    await away('one', '1')

    await until(() => calls.includes('queue/delivered'))
    await second?.ackAndEnqueue({ queue: two.name, ...dependent })
    await new Promise((resolve) => setTimeout(resolve, 50))
    release()
    await away('two', '1')

    await until(async () => (await two.inspect()).ready === 2)
  })
})

/** A queue, one that does not answer, and one that does, for an instance with a very long deadline. */
function besideSilence({
  placeOf,
  deadline = '1m',
}: {
  placeOf?: Driver['placeOf']
  deadline?: Duration
} = {}) {
  const client = new Redis(inject('redisPort'))
  onTestFinished(() => client.disconnect())
  const { driver, silence } = silencing(ioredis(client))
  if (placeOf !== undefined) Object.assign(driver, { placeOf })
  const redis = perilune(driver, { namespace: 'queue-test', deadline })
  onTestFinished(() => {
    silence.end()
    return redis.close()
  })
  const [name, far, near] = [randomUUID(), randomUUID(), randomUUID()]
  silence.of = ({ keys }) => keys[0]?.includes(far) === true
  return { queue: redis.queue<Payloads>(name), near: elsewhere().queue<Payloads>(near), far, name, silence }
}

describe('a queue that does not answer', () => {
  test.each([
    ['on other nodes', undefined],
    ['on its node', () => 'node'],
  ])('keeps nothing from being brought to others %s', SOON, async (_, placeOf) => {
    const { queue, near, far } = besideSilence(placeOf && { placeOf })
    const names = [near.name, far, near.name, near.name]

    for (const [at, name] of names.entries()) {
      await queue.enqueue('mail', { to: String(at) })
      await (await queue.claim())[0]?.ackAndEnqueue({ queue: name, ...dependent })
      const brought = names.slice(0, at + 1).filter((each) => each === near.name).length
      await until(async () => (await near.inspect()).ready === brought)
    }

    await until(async () => (await queue.inspect()).outbox === 1)
  })

  test('represents the others of its node, which are not tried before it answers again', SOON, async () => {
    const { queue, near, far, silence } = besideSilence({
      placeOf: (key) => (key.includes('far') ? 'far' : 'near'),
    })
    const names = Array.from({ length: 20 }, (_, at) => `far ${at} ${far}`)
    const tried = new Set<string>()
    silence.of = ({ keys: [key = ''], script }) => {
      if (!key.includes('far')) return false
      if (script.name === 'queue/receive') tried.add(key)
      return true
    }

    for (const [at, name] of names.entries()) {
      await queue.enqueueMany([dependent, dependent])
      const [one, two] = await queue.claim({ limit: 2 })
      await one?.ackAndEnqueue({ queue: name, ...dependent })
      await two?.ackAndEnqueue({ queue: near.name, ...dependent })
      await until(async () => (await near.inspect()).ready === at + 1)
    }
    const before = tried.size
    silence.of = () => false
    silence.end()

    await until(async () => (await queue.inspect()).outbox === 0)
    expect(before).toBeLessThan(4)
  })

  test(
    'keeps nothing from the others of its node, though another one of it does not answer either',
    SOON,
    async () => {
      const { queue, near, far } = besideSilence({ placeOf: () => 'node', deadline: '300ms' })
      const names = [near.name, far, `${far} too`, near.name, near.name]

      for (const name of [...names, ...names]) {
        await queue.enqueue('mail', { to: 'near' })
        await (await queue.claim())[0]?.ackAndEnqueue({ queue: name, ...dependent })
      }

      await until(async () => (await near.inspect()).ready === 6)
      await until(async () => (await queue.inspect()).outbox === 4)
    },
  )

  test('delays only an enqueue whose job depends on one of its jobs', SOON, async () => {
    const { queue, near, far, silence } = besideSilence()
    await queue.enqueue('mail', { to: 'near' })
    const { id } = await near.enqueue('mail', { to: 'dependency' })
    // Neither does the outbox.
    silence.of = ({ script }) => script.name === 'queue/outbox'
    await (await queue.claim())[0]?.ackAndEnqueue({ queue: far, ...dependent })

    await queue.enqueue('mail', { to: 'dependent' }, { dependsOn: [{ queue: near.name, id }] })

    expect(await queue.inspect()).toMatchObject({ blocked: 1, outbox: 1 })
  })

  test('is asked about dependencies again as soon as it answers', SOON, async () => {
    const { queue, far, silence } = besideSilence({ deadline: '300ms' })
    await queue.enqueue('mail', { to: 'dependent' }, { dependsOn: [{ queue: far, id: 'gone' }] })

    silence.of = () => false

    await until(async () => (await queue.inspect()).ready === 1)
  })

  test('does not delay the questions about dependencies to other queues', SOON, async () => {
    const { queue, near, far } = besideSilence()

    for (let at = 1; at <= 3; at += 1) {
      const { id } = await near.enqueue('mail', { to: 'dependency' })
      const beside = queue.enqueue('mail', { to: 'far' }, { dependsOn: [{ queue: far, id: 'dependency' }] })
      beside.catch(() => undefined)
      await queue.enqueue('mail', { to: 'near' }, { dependsOn: [{ queue: near.name, id }] })
      await near.jobs.cancel([id])
      await until(async () => (await queue.inspect()).dead === at)
    }
  })
})

test('a queue that rejects entries does not delay those for others', SOON, async () => {
  const { queue, another, client } = await setup({ clock: 'real' })
  const [refusing, other] = [await another(), await another()]
  await refusing.enqueue('mail', { to: 'first' })
  await setAway(client, refusing.name, true)

  for (let at = 1; at <= 8; at += 1) {
    await queue.enqueueMany([dependent, dependent])
    const [one, two] = await queue.claim({ limit: 2 })
    await one?.ackAndEnqueue({ queue: refusing.name, ...dependent })
    await two?.ackAndEnqueue({ queue: other.name, ...dependent })
    await until(async () => (await other.inspect()).ready === at)
  }
  await setAway(client, refusing.name, false)

  await until(async () => (await refusing.inspect()).ready === 9)
  expect(await queue.inspect()).toMatchObject({ outbox: 0 })
})

test('jobs are enqueued even if the queue of some dependencies does not answer', async () => {
  const client = new Redis(inject('redisPort'))
  onTestFinished(() => client.disconnect())
  const { driver, silence } = silencing(ioredis(client))
  const redis = perilune(driver, { namespace: 'queue-test', deadline: '1s' })
  onTestFinished(() => {
    silence.end()
    return redis.close()
  })
  const [name, far] = [randomUUID(), randomUUID()]
  const queue = redis.queue<Payloads>(name)
  await queue.enqueue('mail', { to: 'first' })
  silence.of = ({ keys }) => keys[0]?.includes(far) === true

  const enqueuing: Promise<unknown>[] = []
  for (let n = 0; n < 4; n += 1) {
    enqueuing.push(
      queue.enqueue('mail', { to: 'dependent' }, { dependsOn: [{ queue: far, id: `dependency ${n}` }] }),
    )
    enqueuing.push(queue.enqueue('mail', { to: 'beside it' }))
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await Promise.all(enqueuing)

  expect(await queue.inspect()).toMatchObject({ ready: 5, blocked: 4 })
})

test('an undelivered report about a dependency is valid even if the dependency no longer exists', async () => {
  const { queue, another, client, clock, calls } = await setup()
  const other = await another()
  const { id } = await other.enqueue('image', { url: 'dependency' })
  const dependencies = [{ queue: other.name, id }]
  const waiting = await queue.enqueueMany([{ ...dependent, dependsOn: dependencies }])
  await until(async () => (await client.exists(`queue-test:{queue:${other.name}}:children`)) === 1)
  const meta = `queue-test:{queue:${queue.name}}:meta`
  await client.hset(meta, 'layout', '99')
  await other.jobs.cancel([id])
  await until(() => calls.includes('queue/receive'))
  await client.hset(meta, 'layout', '1')

  await clock.advance(60_000)
  expect(await queue.claim()).toEqual([])

  await until(async () => (await queue.inspect()).blocked === 0)
  const [job] = await queue.jobs.getMany(waiting.map((each) => each.id))
  expect(job).toMatchObject({ state: 'dead', failure: { kind: 'dependency-failed' } })
})

test('an ended dependency is not unknown while many other dependents are being notified', async () => {
  const { queue, another, client, clock } = await setup()
  const other = await another()
  const { id } = await other.enqueue('image', { url: 'dependency' }, { id: 'dependency' })
  const near = { ...dependent, dependsOn: [id], onDependencyFailure: 'run' } as const
  await other.enqueueMany(Array.from({ length: 350 }, () => near))
  const [far] = await queue.enqueueMany([{ ...dependent, dependsOn: [{ queue: other.name, id }] }])
  await until(
    async () => (await client.zcount(`queue-test:{queue:${queue.name}}:parents`, 1, Infinity)) === 1,
  )
  await other.jobs.cancel([id])

  for (let minute = 0; minute < 6; minute += 1) {
    await clock.advance(60_000)
    expect(await queue.claim()).toEqual([])
    await new Promise((resolve) => setTimeout(resolve, 50))
  }

  expect(await queue.jobs.get(far?.id ?? '')).toMatchObject({ state: 'dead' })
})

test.each([
  [2, 3],
  [undefined, 3],
  [3, undefined],
])(
  'news for dependents that went when %s partitions became %s are not kept for ever',
  async (before, after) => {
    const { redis, another, name, client } = await setup({ clock: 'real' })
    const other = await another()
    const { id } = await other.enqueue('image', { url: 'dependency' })
    const open = (partitions?: number): Pick<Queue<Payloads>, 'enqueueMany' | 'clear'> =>
      partitions === undefined ? redis.queue<Payloads>(name) : redis.queue<Payloads>(name, { partitions })
    const old = open(before)
    await old.enqueueMany([{ ...dependent, dependsOn: [{ queue: other.name, id }] }])
    await until(async () => (await client.exists(`queue-test:{queue:${other.name}}:children`)) === 1)
    await old.clear()
    await open(after).enqueueMany(Array.from({ length: 9 }, () => dependent))

    await (await other.claim())[0]?.ack()

    await until(async () => (await other.inspect()).outbox === 0)
  },
)

test('a dependency in a partitioned queue, which other queues cannot name, is treated as done', async () => {
  const { queue, redis, name } = await setup()
  const spread = redis.queue<Payloads>(`${name}-spread`, { partitions: 2 })
  const { id } = await spread.enqueue('image', { url: 'dependency' })

  await queue.enqueueMany([{ ...dependent, dependsOn: [{ queue: `${name}-spread`, id }] }])

  await until(async () => (await queue.inspect()).ready === 1)
  await spread.clear()
})
