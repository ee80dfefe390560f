import { InvalidArgumentError } from 'perilune'
import { describe, expect, test } from 'vitest'
import { setup, until } from '../../../test/queue-fixture.ts'
import type { ClaimedJob } from '../claims/claimed-job.ts'
import type { DependencyId } from './dependencies.ts'
import type { Queue } from '../queue.ts'

const to = 'customer'

interface Payloads {
  mail: { to: string }
  image: { url: string }
}

async function blockedBy(
  queue: Queue<Payloads>,
  dependencies: DependencyId[],
  options: object = {},
): Promise<string> {
  const { id } = await queue.enqueue('mail', { to: 'dependent' }, { dependsOn: dependencies, ...options })
  return id
}

async function ids(queue: Queue<Payloads>, count: number): Promise<string[]> {
  const jobs = Array.from({ length: count }, () => ({
    name: 'image' as const,
    payload: { url: 'dependency' },
  }))
  return (await queue.enqueueMany(jobs)).map(({ id }) => id)
}

async function stateOf(queue: Queue<Payloads>, id: string): Promise<string> {
  return (await queue.jobs.get(id))?.state ?? 'absent'
}

describe('a job with dependencies', () => {
  test('waits until all of them are done, and gets their results', async () => {
    const { queue } = await setup()
    const [a, b] = (await ids(queue, 2)) as [string, string]
    const dependent = await blockedBy(queue, [a, b])
    expect(await stateOf(queue, dependent)).toBe('blocked')
    expect(await queue.settings.inspect()).toMatchObject({ ready: 2, blocked: 1 })

    const [first, second] = await queue.claim({ limit: 10 })
    await first?.ack({ width: 1 })
    expect(await stateOf(queue, dependent)).toBe('blocked')
    expect(await queue.jobs.dependencies(dependent)).toMatchObject([
      { id: a, state: 'done' },
      { id: b, state: 'pending' },
    ])
    await second?.ack()
    const [job] = await queue.claim()

    expect(job?.id).toBe(dependent)
    expect(await job?.dependencies()).toEqual([
      { queue: null, id: a, state: 'done', result: { width: 1 }, failure: null, undecodable: [] },
      { queue: null, id: b, state: 'done', result: null, failure: null, undecodable: [] },
    ])
    await job?.ack()
    expect(await queue.settings.inspect()).toMatchObject({
      ready: 0,
      blocked: 0,
      blockedBytes: 0,
      claimed: 0,
    })
  })

  test('leaves no keys when it is done', async () => {
    const { queue, client, name } = await setup()
    const dependencies = await ids(queue, 3)
    await blockedBy(queue, dependencies)
    for (const job of await queue.claim({ limit: 3 })) await job.ack('much')
    await (await queue.claim())[0]?.ack()

    const prefix = `queue-test:{queue:${name}}`
    expect(await client.exists(`${prefix}:children`, `${prefix}:parents`, `${prefix}:blocked`)).toBe(0)
    expect(await client.hkeys(`${prefix}:jobs`)).toEqual(['~'])
  })

  test('is ready at once when they are done already, or do not exist', async () => {
    const { queue } = await setup()
    const [gone] = (await ids(queue, 1)) as [string]
    await (await queue.claim())[0]?.ack('not read')

    expect(await stateOf(queue, await blockedBy(queue, [gone, 'never-there']))).toBe('ready')
  })

  test('gets the result of one that is done and kept', async () => {
    const { queue } = await setup()
    await queue.settings.set({ retention: { count: 10 } })
    const [kept] = (await ids(queue, 1)) as [string]
    await (await queue.claim())[0]?.ack('kept')

    const dependent = await blockedBy(queue, [kept])

    expect(await stateOf(queue, dependent)).toBe('ready')
    expect(await queue.jobs.dependencies(dependent)).toMatchObject([
      { id: kept, state: 'done', result: 'kept' },
    ])
  })

  test('starts its delay when its dependencies are done', async () => {
    const { queue, clock } = await setup()
    const [dependency] = (await ids(queue, 1)) as [string]
    const dependent = await blockedBy(queue, [dependency], { delay: '10s' })
    await clock.advance(20_000)
    await (await queue.claim())[0]?.ack()

    expect(await stateOf(queue, dependent)).toBe('scheduled')
    await clock.advance(10_000)
    expect((await queue.claim())[0]?.id).toBe(dependent)
  })

  test.each(['fail', 'cancel', 'run'] as const)(
    'with onDependencyFailure %s, when one dies or is cancelled',
    async (what) => {
      const { queue } = await setup()
      const [dies, goes] = (await ids(queue, 2)) as [string, string]
      const one = await blockedBy(queue, [dies], { onDependencyFailure: what })
      const other = await blockedBy(queue, [goes], { onDependencyFailure: what })

      await (await queue.claim())[0]?.fail({ kind: 'broken', message: 'beyond repair' })
      await queue.jobs.cancel([goes])

      const expected = { fail: 'dead', cancel: 'absent', run: 'ready' }[what]
      expect([await stateOf(queue, one), await stateOf(queue, other)]).toEqual([expected, expected])
      if (what === 'fail') {
        expect(await queue.jobs.get(one)).toMatchObject({
          failure: { kind: 'dependency-failed', message: `dependency '${dies}' is dead` },
        })
      }
      if (what === 'run') {
        expect(await queue.jobs.dependencies(one)).toMatchObject([
          { state: 'dead', failure: { kind: 'broken', message: 'beyond repair' } },
        ])
        expect(await queue.jobs.dependencies(other)).toMatchObject([{ state: 'cancelled' }])
      }
    },
  )

  test('a whole chain dies with its first job, and can be requeued', async () => {
    const { queue } = await setup()
    let [last] = (await ids(queue, 1)) as [string]
    const chain: string[] = []
    for (let at = 0; at < 5; at++) chain.push((last = await blockedBy(queue, [last])))

    await (await queue.claim())[0]?.fail()

    expect(await Promise.all(chain.map((id) => stateOf(queue, id)))).toEqual(Array(5).fill('dead'))
    expect(await queue.jobs.requeue(chain)).toEqual(Array(5).fill('requeued'))
    expect(await queue.claim({ limit: 10 })).toHaveLength(5)
  })

  test('a thousand dependents of one dependency are released in steps, without forgetting any', async () => {
    const { queue } = await setup()
    const [dependency] = (await ids(queue, 1)) as [string]
    await queue.enqueueMany(
      Array.from({ length: 1000 }, () => ({
        name: 'mail' as const,
        payload: { to },
        dependsOn: [dependency],
      })),
    )
    await (await queue.claim())[0]?.ack('for all')

    const seen: string[] = []
    for (let jobs = await queue.claim({ limit: 100 }); jobs.length > 0; ) {
      seen.push(...jobs.map(({ id }) => id))
      jobs = await queue.claim({ limit: 100, acks: jobs })
    }

    expect(new Set(seen).size).toBe(1000)
    expect(await queue.settings.inspect()).toMatchObject({ blocked: 0, ready: 0, claimed: 0 })
  })

  test('is listed as blocked, can be cancelled, and can be requeued before its dependencies are done', async () => {
    const { queue } = await setup()
    const [dependency] = (await ids(queue, 1)) as [string]
    const [one, other] = [await blockedBy(queue, [dependency]), await blockedBy(queue, [dependency])]
    const { jobs } = await queue.jobs.list('blocked')
    expect(jobs.map(({ id }) => id)).toEqual([one, other])

    expect(await queue.jobs.cancel([one])).toEqual(['cancelled'])
    expect(await queue.jobs.requeue([other])).toEqual(['requeued'])

    expect(await stateOf(queue, other)).toBe('ready')
    for (const job of await queue.claim({ limit: 10 })) await job.ack()
    expect(await queue.settings.inspect()).toMatchObject({ ready: 0, blocked: 0, claimed: 0, dead: 0 })
  })

  test('keeps its place when a duplicate replaces it', async () => {
    const { queue } = await setup()
    const [dependency] = (await ids(queue, 1)) as [string]
    const unique = { key: 'k', replace: true }
    const dependent = await blockedBy(queue, [dependency], { unique })
    await queue.enqueue('mail', { to: 'another' }, { unique })
    expect(await queue.jobs.get(dependent)).toMatchObject({ state: 'blocked', payload: { to: 'another' } })

    await (await queue.claim())[0]?.ack()
    expect((await queue.claim())[0]?.payload).toEqual({ to: 'another' })
  })

  test('can add and remove dependencies of its own queue', async () => {
    const { queue } = await setup()
    const [a, b] = (await ids(queue, 2)) as [string, string]
    const dependent = await blockedBy(queue, [a])
    const [younger] = (await ids(queue, 1)) as [string]

    expect(await queue.jobs.addDependencies(dependent, [b])).toBe('changed')
    expect(await queue.jobs.addDependencies(dependent, [b])).toBe('changed')
    expect(await queue.jobs.addDependencies(dependent, [younger])).toBe('newer')
    expect(await queue.jobs.addDependencies(dependent, [])).toBe('changed')
    expect(await queue.jobs.addDependencies(a, [b])).toBe('ready')
    expect(await queue.jobs.addDependencies('absent', [b])).toBe('absent')
    expect(await queue.jobs.removeDependencies(dependent, [a])).toBe('changed')
    expect(await stateOf(queue, dependent)).toBe('blocked')
    expect(await queue.jobs.removeDependencies(dependent, [b])).toBe('changed')
    expect(await stateOf(queue, dependent)).toBe('ready')
  })

  test('invalid dependencies are named in the error', async () => {
    const { queue } = await setup()
    await expect(blockedBy(queue, 'x' as never)).rejects.toThrow(/dependsOn/)
    await expect(blockedBy(queue, [{ queue: '', id: 'x' }])).rejects.toThrow(/dependsOn\.queue/)
    await expect(blockedBy(queue, [], { onDependencyFailure: 'x' })).rejects.toThrow(InvalidArgumentError)
  })
})

describe('across queues', () => {
  test('a job waits for one of another queue, and gets its result', async () => {
    const { queue, another } = await setup({ clock: 'real' })
    const other = await another()
    const { id } = await other.enqueue('image', { url: 'far' }, { id: 'far' })
    const dependent = await blockedBy(queue, [{ queue: other.name, id }])
    expect(await stateOf(queue, dependent)).toBe('blocked')

    await (await other.claim())[0]?.ack('from afar')
    await until(async () => (await stateOf(queue, dependent)) === 'ready')

    expect(await queue.jobs.dependencies(dependent)).toEqual([
      { queue: other.name, id: 'far', state: 'done', result: 'from afar', failure: null, undecodable: [] },
    ])
    await until(async () => (await other.settings.inspect()).outbox === 0)
  })

  test('a requeued dependency is pending for new dependents, and keeps its old state for earlier ones', async () => {
    const { queue } = await setup()
    await queue.settings.set({ retention: { count: 10 } })
    const { id } = await queue.enqueue('image', { url: 'a' }, { id: 'kept' })
    const early = await blockedBy(queue, [id])
    await (await queue.claim())[0]?.ack('first')
    await queue.jobs.requeue([id])
    const late = await blockedBy(queue, [id])

    expect(await queue.jobs.dependencies(late)).toMatchObject([{ id, state: 'pending', result: null }])
    expect(await queue.jobs.dependencies(early)).toMatchObject([{ id, state: 'done', result: 'first' }])
    for (const job of await queue.claim({ limit: 10 })) await job.ack('second')
    expect(await queue.jobs.dependencies(late)).toMatchObject([{ id, state: 'done', result: 'second' }])
  })

  test('an unknown dependency is treated as done, and one that dies makes its dependent dead', async () => {
    const { queue, another } = await setup({ clock: 'real' })
    const other = await another()
    const { id } = await other.enqueue('image', { url: 'far' })
    const free = await blockedBy(queue, [{ queue: other.name, id: 'absent' }])
    const bound = await blockedBy(queue, [{ queue: other.name, id }])

    await (await other.claim())[0]?.fail()
    await until(async () => (await stateOf(queue, bound)) === 'dead')
    await until(async () => (await stateOf(queue, free)) === 'ready')
  })

  test('a dependency whose queue was cleared blocks no dependent: it is asked about again', async () => {
    const { queue, another, clock, client } = await setup()
    const other = await another()
    const { id } = await other.enqueue('image', { url: 'far' })
    const dependent = await blockedBy(queue, [{ queue: other.name, id }])
    await until(async () => (await client.exists(`queue-test:{queue:${other.name}}:children`)) === 1)
    await other.clear()
    await clock.advance(30_000)
    expect(await queue.claim()).toEqual([])
    expect(await stateOf(queue, dependent)).toBe('blocked')

    await clock.advance(30_000)
    expect(await queue.claim()).toEqual([])

    await until(async () => (await stateOf(queue, dependent)) === 'ready')
  })

  test('a dependency whose queue rejects questions does not block dependents of others', async () => {
    const { queue, redis, client, another } = await setup()
    const [a, b] = [await another(), await another()]
    // The queue that rejects is asked first.
    const [bad, good] = a.name < b.name ? [a, b] : [b, a]
    const dependencies = await Promise.all(
      [bad, good].map((each) => each.enqueue('image', { url: 'dependency' })),
    )
    await client.hset(`queue-test:{queue:${bad.name}}:meta`, 'layout', '99')
    const dependents = await queue.enqueueMany(
      [bad, good].map(({ name }, at) => ({
        name: 'mail' as const,
        payload: { to: 'dependent' },
        dependsOn: [{ queue: name, id: dependencies[at]?.id ?? '' }],
      })),
    )
    await using _worker = redis.queue(good.name).work(() => undefined)

    // Once its queue was asked, the end of a dependency is reported.
    await until(async () => (await stateOf(queue, dependents[1]?.id ?? '')) === 'ready')
    expect(await stateOf(queue, dependents[0]?.id ?? '')).toBe('blocked')
  })

  test('a queue with another codec takes nothing, and does not delay other queues', async () => {
    const { queue, redis, another, name } = await setup({ clock: 'real' })
    const other = await another()
    const text = { name: 'text', encode: String, decode: (bytes: Buffer) => bytes.toString() }
    const deaf = redis.queue<Payloads>(`${name}-deaf`, { codec: text })
    await deaf.enqueue('mail', 'x' as never)
    await queue.enqueueMany([
      { name: 'image', payload: { url: 'a' } },
      { name: 'image', payload: { url: 'b' } },
    ])
    const [first, second] = await queue.claim({ limit: 2 })

    await first?.ackAndEnqueue({ queue: deaf.name, name: 'mail', payload: { to } })
    await second?.ackAndEnqueue({ queue: other.name, name: 'mail', payload: { to } })

    await until(async () => (await other.settings.inspect()).ready === 1)
    await until(async () => (await queue.settings.inspect()).outbox === 1)
    await deaf.clear()
    await queue.enqueue('image', { url: 'c' })
    await until(async () => {
      await queue.claim({ lease: '1s' })
      return (await queue.settings.inspect()).outbox === 0
    })
    await deaf.clear()
  })
})

describe('advance', () => {
  test('acks a job and enqueues the next one atomically', async () => {
    const { queue } = await setup()
    await queue.enqueue('image', { url: 'a' })
    const [job] = await queue.claim()

    const next = await job?.ackAndEnqueue({ name: 'mail', payload: { to }, priority: 3 }, 'a result')

    expect(job?.outcome).toBe('acked')
    expect((await queue.claim())[0]).toMatchObject({ id: next?.id, name: 'mail', priority: 3 })
    expect(await queue.settings.inspect()).toMatchObject({ enqueued: 2, acked: 1 })
    await expect(job?.ackAndEnqueue({ name: 'mail', payload: { to } })).rejects.toThrow(/acked/)
  })

  test('does neither when the job was lost', async () => {
    const { queue, clock } = await setup()
    await queue.enqueue('image', { url: 'a' })
    const [job] = await queue.claim({ lease: '1s' })
    await clock.advance(2000)
    const [again] = await queue.claim()

    await expect(job?.ackAndEnqueue({ name: 'mail', payload: { to } })).rejects.toThrow(/lost/)
    await again?.ack()
    expect(await queue.settings.inspect()).toMatchObject({ ready: 0, claimed: 0, enqueued: 1 })
  })

  // A worker that missed its wake-up would poll only after ten seconds.
  test('a pipeline over three queues does each step of each job once', { timeout: 8000 }, async () => {
    const { queue: fetch, another } = await setup({ clock: 'real' })
    const [resize, store] = [await another(), await another()]
    const stored: string[] = []
    const follow =
      ({ name }: Queue<Payloads>) =>
      (job: ClaimedJob<{ url: string }>) =>
        job.ackAndEnqueue({ queue: name, name: 'image', payload: { url: `${job.payload.url}>` } })
    await using _one = fetch.work({ image: follow(resize) })
    await using _two = resize.work({ image: follow(store) })
    await using _three = store.work({ image: ({ payload }) => void stored.push(payload.url) })

    await fetch.enqueueMany(
      Array.from({ length: 200 }, (_, at) => ({ name: 'image' as const, payload: { url: `${at}` } })),
    )
    await until(() => stored.length >= 200)

    expect(stored.toSorted()).toEqual(Array.from({ length: 200 }, (_, at) => `${at}>>`).toSorted())
  })
})
