import { ioredis } from 'perilune/ioredis'
import { describe, expect, test } from 'vitest'
import { readContract } from '../../../test/conformance/files.ts'
import { setup } from '../../../test/queue-fixture.ts'
import { runOperation } from '../../testing/run-operation.ts'
import type { Arguments } from '../../testing/vector-contract.ts'
import type { Value } from '../../testing/vector-value.ts'

// Larger than what is stored inline in a job's record, and so large that four fill an answer.
const LARGE = 'x'.repeat(1_100_000)
const to = LARGE
const SMALL = 'small'

type Made = Awaited<ReturnType<typeof setup>>

/** Checks the counts of the queue in each state against its jobs. */
async function expectCounted({ queue }: Made): Promise<void> {
  const inspected = await queue.inspect()
  for (const state of ['scheduled', 'blocked', 'claimed', 'dead', 'done'] as const) {
    const listed = await all((after) => queue.jobs.list(state, after === null ? {} : { after }))
    expect(inspected[state], state).toBe(listed)
  }
}

async function all(
  page: (after: string | null) => Promise<{ jobs: unknown[]; next: string | null }>,
): Promise<number> {
  let [count, after] = [0, null as string | null]
  do {
    const { jobs, next } = await page(after)
    count += jobs.length
    after = next
  } while (after !== null)
  return count
}

describe('a claim', () => {
  test('stops after the large jobs that fill an answer, and the others come next, in order', async () => {
    const { queue } = await setup()
    for (let at = 0; at < 6; at += 1) await queue.enqueue('mail', { to: LARGE + at })

    const first = await queue.claim({ limit: 6 })
    const second = await queue.claim({ limit: 6 })

    expect(first).toHaveLength(4)
    expect(
      [...first, ...second].map(({ payload }) => (payload as { to: string }).to.slice(LARGE.length)),
    ).toEqual(['0', '1', '2', '3', '4', '5'])
  })

  test('takes large jobs of groups and priorities by bytes, too', async () => {
    const { queue } = await setup()
    for (let at = 0; at < 6; at += 1) {
      await queue.enqueue('mail', { to }, at < 3 ? { group: `g${at}` } : { priority: at })
    }

    expect(await queue.claim({ limit: 6 })).toHaveLength(4)
    expect(await queue.claim({ limit: 6 })).toHaveLength(2)
  })

  test('a worker with high concurrency does all of them once', async () => {
    const { queue } = await setup()
    const runs = new Map<string, number>()
    for (let at = 0; at < 12; at += 1) await queue.enqueue('mail', { to }, { id: `j${at}` })

    const worker = queue.work((job) => void runs.set(job.id, (runs.get(job.id) ?? 0) + 1), {
      concurrency: 200,
    })
    await expect.poll(() => runs.size).toBe(12)
    await worker.close()

    expect([...runs.values()].every((count) => count === 1)).toBe(true)
  })
})

describe('a large job', () => {
  test.each([
    ['plain', {}],
    ['with an id', { id: 'own' }],
    ['of a group', { group: 'g' }],
    ['with a priority', { priority: 3 }],
  ])('%s keeps its payload through retries, releases, its death and a second life', async (_, options) => {
    const made = await setup()
    const { queue } = made
    const { id } = await queue.enqueue('mail', { to }, { maxAttempts: 2, ...options })

    for (const step of ['release', 'retry', 'retry'] as const) {
      const [job] = await queue.claim()
      expect(job?.payload).toEqual({ to })
      await (step === 'release' ? job?.release() : job?.retry({ delay: '0ms' }))
    }
    expect((await queue.jobs.get(id))?.state).toBe('dead')
    expect((await queue.jobs.get(id))?.payload).toEqual({ to })
    await expectCounted(made)
    await queue.jobs.requeue([id])
    const [again] = await queue.claim()

    expect(again?.payload).toEqual({ to })
    await again?.ack()
    expect(await queue.inspect()).toMatchObject({ ready: 0, claimed: 0, dead: 0 })
  })

  test('leaves only the state of its queue once it is done, cancelled or dropped', async () => {
    const { queue, client, name } = await setup()
    await queue.enqueue('mail', { to })
    const cancelled = await queue.enqueue('mail', { to }, { delay: '1h' })
    for (const job of await queue.claim()) await job.ack()
    await queue.jobs.cancel([cancelled.id])

    // One field says how wide the hash is.
    expect(await client.hlen(`queue-test:{queue:${name}}:jobs`)).toBe(1)
  })

  test('is replaced by a small one, and a small one by a large one', async () => {
    const made = await setup()
    const { queue } = made
    const unique = { key: 'k', replace: true } as const
    await queue.enqueue('mail', { to }, { unique })
    await queue.enqueue('mail', { to: SMALL }, { unique })
    const [small] = await queue.claim()
    await small?.ack()
    await queue.enqueue('mail', { to: SMALL }, { unique })
    await queue.enqueue('mail', { to }, { unique })
    const [large] = await queue.claim()

    expect([small?.payload, large?.payload]).toEqual([{ to: SMALL }, { to }])
  })

  test('waits for others, is found by tag, and changes its priority and tags', async () => {
    const made = await setup()
    const { queue } = made
    const dependency = await queue.enqueue('mail', { to: SMALL })
    const dependent = await queue.enqueue('mail', { to }, { dependsOn: [dependency.id], tags: ['t'] })
    await expectCounted(made)
    for (const job of await queue.claim()) await job.ack()
    await queue.jobs.reprioritize([dependent.id], 5)
    await queue.jobs.tag(dependent.id, ['u'])

    expect((await queue.jobs.search({ tag: 'u' })).jobs[0]?.payload).toEqual({ to })
    const [job] = await queue.claim()
    expect([job?.priority, job?.payload]).toEqual([5, { to }])
  })
})

describe('a page', () => {
  test('of jobs ends after those that fill an answer, and the next page continues', async () => {
    const { queue } = await setup()
    for (let at = 0; at < 6; at += 1) await queue.enqueue('mail', { to }, { tags: ['t'], delay: '1h' })

    const first = await queue.jobs.list('scheduled', { limit: 6 })
    const second = await queue.jobs.list('scheduled', { limit: 6, after: first.next ?? '' })
    const tagged = await queue.jobs.search({ tag: 't', limit: 6 })

    expect([first.jobs.length, second.jobs.length, second.next]).toEqual([4, 2, null])
    expect([tagged.jobs.length, tagged.next === null]).toEqual([4, false])
  })

  test('of named jobs is complete, for any number of bytes', async () => {
    const { queue } = await setup()
    const ids: string[] = []
    for (let at = 0; at < 6; at += 1) ids.push((await queue.enqueue('mail', { to })).id)

    const found = await queue.jobs.getMany([...ids, 'unknown'])

    expect(found.map(({ id }) => id)).toEqual(ids)
  })
})

describe('delivery to another queue', () => {
  test('uses pages that end after the entries that fill an answer, and delivers everything', async () => {
    const { queue, another, client, name } = await setup()
    const other = await another()
    const run = (operation: string, args: Arguments): Promise<Value[]> =>
      runOperation(ioredis(client), readContract(), operation, `queue-test:{queue:${name}}:`, args)
    for (let at = 0; at < 6; at += 1) await queue.enqueue('mail', { to: SMALL })
    const jobs = await queue.claim({ limit: 6 })
    // Entries would be delivered at once otherwise: the other queue has no codec of this name.
    await client.hset(`queue-test:{queue:${other.name}}:meta`, 'layout', '1', 'codec', 'another')
    for (const job of jobs) await job.ackAndEnqueue({ queue: other.name, name: 'mail', payload: { to } })

    const [, first] = (await run('queue/outbox', { after: '0', limit: 100 })) as [string, [number][]]
    const after = String(first.at(-1)?.[0])
    const [, second] = (await run('queue/outbox', { after, limit: 100 })) as [string, unknown[]]
    expect([first.length, second.length]).toEqual([4, 2])

    await client.del(`queue-test:{queue:${other.name}}:meta`)
    await queue.claim()
    await expect.poll(async () => (await other.inspect()).ready).toBe(6)
  })
})

describe('a search', () => {
  test('looks at fewer jobs when they are large on average, and finds each', async () => {
    const { queue } = await setup()
    const ids = Array.from({ length: 600 }, (_, at) => `j${at}`)
    // Small enough to be stored inline: the server reads all of them in the search.
    const payload = { to: 'x'.repeat(16_000) }
    await queue.enqueueMany(ids.map((id) => ({ name: 'mail', payload, id })))

    const found = new Set<string>()
    let [most, after] = [0, null as string | null]
    do {
      const page = await queue.jobs.search({ limit: 1000, ...(after === null ? {} : { after }) })
      for (const { id } of page.jobs) found.add(id)
      most = Math.max(most, page.jobs.length)
      after = page.next
    } while (after !== null)

    expect(found.size).toBe(600)
    // 4 MiB are 262 of them.
    expect(most).toBeLessThan(400)
  })
})

describe('a recurring job', () => {
  test('with a large payload stores it separately, and a call spawns no more runs than fill it', async () => {
    const { queue, client, name, clock } = await setup()
    await queue.recurring.set('big', { name: 'mail', payload: { to }, every: '1s', missed: { upTo: 10 } })
    await clock.advance(10_000)

    const [job] = await queue.claim()
    expect(job?.payload).toEqual({ to })
    expect((await queue.inspect()).ready).toBe(3)
    const stored = await client.hkeys(`queue-test:{queue:${name}}:jobs`)
    expect(stored.filter((field) => field.startsWith('b'))).toHaveLength(4)

    const runs = [job?.id]
    for (let at = 1; at < 10; at += 1) runs.push((await queue.claim())[0]?.id)
    expect(new Set(runs).size).toBe(10)
    expect(await queue.claim()).toEqual([])
  })
})
