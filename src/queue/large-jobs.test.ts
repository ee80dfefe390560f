import { describe, expect, test } from 'vitest'
import { setup } from '../../test/queue-fixture.ts'

// Beyond what is stored in the record of a job, and so large that four of them fill an answer.
const LARGE = 'x'.repeat(1_100_000)
const to = LARGE
const SMALL = 'small'

type Made = Awaited<ReturnType<typeof setup>>

/** What the queue counts in each state is what its jobs say. */
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
  test('takes no more large jobs behind those that fill an answer, and the others come next, in order', async () => {
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

  test('a worker with many places does all of them once', async () => {
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
    expect((await queue.jobs.find(id))?.state).toBe('dead')
    expect((await queue.jobs.find(id))?.payload).toEqual({ to })
    await expectCounted(made)
    await queue.jobs.requeue([id])
    const [again] = await queue.claim()

    expect(again?.payload).toEqual({ to })
    await again?.ack()
    expect(await queue.inspect()).toMatchObject({ ready: 0, claimed: 0, dead: 0 })
  })

  test('leaves nothing but the state of its queue once it is done, cancelled or dropped', async () => {
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
    const parent = await queue.enqueue('mail', { to: SMALL })
    const child = await queue.enqueue('mail', { to }, { parents: [parent.id], tags: ['t'] })
    await expectCounted(made)
    for (const job of await queue.claim()) await job.ack()
    await queue.jobs.reprioritize([child.id], 5)
    await queue.jobs.tag(child.id, ['u'])

    expect((await queue.jobs.search({ tag: 'u' })).jobs[0]?.payload).toEqual({ to })
    const [job] = await queue.claim()
    expect([job?.priority, job?.payload]).toEqual([5, { to }])
  })
})

describe('a page', () => {
  test('of jobs ends behind those that fill an answer, and the next one goes on', async () => {
    const { queue } = await setup()
    for (let at = 0; at < 6; at += 1) await queue.enqueue('mail', { to }, { tags: ['t'], delay: '1h' })

    const first = await queue.jobs.list('scheduled', { limit: 6 })
    const second = await queue.jobs.list('scheduled', { limit: 6, after: first.next ?? '' })
    const tagged = await queue.jobs.search({ tag: 't', limit: 6 })

    expect([first.jobs.length, second.jobs.length, second.next]).toEqual([4, 2, null])
    expect([tagged.jobs.length, tagged.next === null]).toEqual([4, false])
  })

  test('of named jobs is whole, whatever their bytes', async () => {
    const { queue } = await setup()
    const ids: string[] = []
    for (let at = 0; at < 6; at += 1) ids.push((await queue.enqueue('mail', { to })).id)

    const found = await queue.jobs.findMany([...ids, 'unknown'])

    expect(found.map(({ id }) => id)).toEqual(ids)
  })
})
