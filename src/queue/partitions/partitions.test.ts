// Jobs in partitions with dependencies, and their next jobs.

import { type ClaimedJob, InvalidArgumentError, type PartitionedQueue } from 'perilune'
import { describe, expect, test } from 'vitest'
import { groupsFor, setup } from '../../../test/partitioned-queue-fixture.ts'
import { type Payloads, until } from '../../../test/queue-fixture.ts'

const to = 'ada'
const mail = { name: 'mail', payload: { to } } as const
const [zero, one, two, three] = groupsFor(4) as [string, string, string, string]

type Partitioned = PartitionedQueue<Payloads>

async function stateOf(queue: Partitioned, id: string): Promise<string> {
  return (await queue.jobs.get(id))?.state ?? 'absent'
}

const claimAll = (queue: Partitioned): Promise<ClaimedJob[]> => queue.claim({ limit: 100 })

const becomes = (queue: Partitioned, id: string, state: string): Promise<void> =>
  until(async () => (await stateOf(queue, id)) === state)

describe('a job in partitions with dependencies', () => {
  test('waits for those in its partition and in others, and gets their results', async () => {
    const { queue, redis, name } = setup()
    const dependencies: string[] = []
    for (const group of [zero, one, two])
      dependencies.push((await queue.enqueue('mail', { to }, { group })).id)
    await queue.enqueue('mail', { to }, { id: 'own', group: three })
    const other = redis.queue(`${name}-other`)
    const elsewhere = await other.enqueue('step', 1)
    const all = [...dependencies, 'own', { queue: `${name}-other`, id: elsewhere.id }]
    const dependent = await queue.enqueue('mail', { to }, { dependsOn: all, group: one })
    expect(await stateOf(queue, dependent.id)).toBe('blocked')

    for (const job of await claimAll(queue)) await job.ack({ by: job.id })
    await (await other.claim())[0]?.ack('elsewhere')
    await becomes(queue, dependent.id, 'ready')

    const [job] = await claimAll(queue)
    expect(job?.id).toBe(dependent.id)
    const named = [...dependencies, 'own'].map((id) => ({
      queue: null,
      id,
      state: 'done',
      result: { by: id },
    }))
    const seen = [...named, { queue: `${name}-other`, id: elsewhere.id, state: 'done', result: 'elsewhere' }]
    expect(await job?.dependencies()).toMatchObject(seen)
    expect(await queue.jobs.dependencies(dependent.id)).toMatchObject(seen)
    await job?.ack()
    expect(await queue.inspect()).toMatchObject({ blocked: 0, ready: 0, outbox: 0 })
  })

  test('dies with a dependency in another partition, also with one named by its own id', async () => {
    const { queue } = setup()
    await queue.enqueue('mail', { to }, { id: 'own', group: zero })
    const dependent = await queue.enqueue('mail', { to }, { dependsOn: ['own'], group: two })
    expect(await queue.jobs.dependencies(dependent.id)).toMatchObject([
      { queue: null, id: 'own', state: 'pending' },
    ])

    await (await queue.claim())[0]?.fail({ kind: 'Bad' })
    await becomes(queue, dependent.id, 'dead')

    expect(await queue.jobs.get(dependent.id)).toMatchObject({ failure: { kind: 'dependency-failed' } })
  })

  test('goes to the partition of its first dependency, and is ready at once when they do not exist', async () => {
    const { queue } = setup()
    const { id } = await queue.enqueue('mail', { to }, { group: three })
    const dependents = await queue.enqueueMany([1, 2, 3].map(() => ({ ...mail, dependsOn: [id] })))
    expect(dependents.map((dependent) => dependent.id[0])).toEqual(['3', '3', '3'])
    await queue.jobs.cancel([...dependents.map((dependent) => dependent.id), id])

    for (const dependencies of [[id], ['absent'], []]) {
      const dependent = await queue.enqueue('mail', { to }, { dependsOn: dependencies, group: one })
      await becomes(queue, dependent.id, 'ready')
    }
    await expect(queue.enqueue('mail', { to }, { dependsOn: ['4-17'] })).rejects.toThrow(/dependsOn/)
  })

  test('may be enqueued along with its dependencies in any partitions', async () => {
    const { queue } = setup()
    const chain = [zero, one, two, three, three].map((group, at) => ({
      ...mail,
      id: `step ${at}`,
      group,
      ...(at === 0 ? {} : { dependsOn: [`step ${at - 1}`] }),
    }))
    await queue.enqueueMany(chain)
    expect(await queue.inspect()).toMatchObject({ ready: 1, blocked: 4 })

    const order: string[] = []
    await using _worker = queue.work((job: ClaimedJob) => void order.push(job.id))
    await until(() => order.length === 5)

    expect(order).toEqual(chain.map(({ id }) => id))
  })

  test('is enqueued after a dependency of the same list, even if that takes several calls', async () => {
    const { queue } = setup()
    const many = Array.from({ length: 8000 }, () => ({ ...mail, group: three }))

    const all = [
      ...many,
      { ...mail, id: 'last', group: three },
      { ...mail, dependsOn: ['last'], group: zero },
    ]
    const dependent = (await queue.enqueueMany(all)).at(-1)

    expect(await queue.jobs.dependencies(dependent?.id ?? '')).toMatchObject([
      { id: 'last', state: 'pending' },
    ])
  })

  test('can add dependencies in its partition, and remove them in any partition', async () => {
    const { queue, calls } = setup()
    const near = await queue.enqueue('mail', { to }, { group: one })
    const far = await queue.enqueue('mail', { to }, { group: two })
    await queue.enqueue('mail', { to }, { id: 'own', group: three })
    const dependent = await queue.enqueue(
      'mail',
      { to },
      { id: 'dependent', dependsOn: [far.id, 'own'], group: one },
    )

    await expect(queue.jobs.addDependencies(dependent.id, [far.id])).rejects.toThrow(InvalidArgumentError)
    await expect(queue.jobs.addDependencies(near.id, [near.id, 'own'])).rejects.toThrow(/partition/)
    const before = calls.length
    await expect(queue.jobs.addDependencies(near.id, [far.id])).rejects.toThrow(/partition/)
    const named = [{ queue: 'other', id: 'x' }] as never
    await expect(queue.jobs.addDependencies(near.id, named)).rejects.toThrow(/this queue/)
    expect(calls.slice(before)).toEqual([])
    expect(await queue.jobs.addDependencies(dependent.id, [near.id, 'absent'])).toBe('changed')
    expect(await queue.jobs.dependencies('dependent')).toHaveLength(3)
    expect(await queue.jobs.addDependencies('absent', [near.id])).toBe('absent')
    expect(await queue.jobs.addDependencies(near.id, [near.id])).toBe('ready')
    expect(await queue.jobs.removeDependencies('dependent', [near.id, far.id])).toBe('changed')
    expect(await queue.jobs.dependencies('dependent')).toMatchObject([{ id: 'own' }])
    expect(await queue.jobs.removeDependencies('dependent', ['own'])).toBe('changed')
    expect(await stateOf(queue, 'dependent')).toBe('ready')
  })
})

describe('the next job of a job in partitions', () => {
  test('is stored once, in the partition of the job or of its own group', async () => {
    const { queue } = setup()
    await queue.enqueue('mail', { to }, { group: one })
    const [job] = await queue.claim()
    const near = (await job?.ackAndEnqueue({ ...mail })) as { id: string }
    expect(near).toMatchObject({ id: expect.stringMatching(/^1-/), duplicate: false })

    const [second] = await queue.claim()
    expect(second?.id).toBe(near.id)
    expect(await second?.ackAndEnqueue({ ...mail, group: three })).toEqual({ id: null, duplicate: false })
    await until(async () => (await queue.inspect()).partitions[3]?.ready === 1)
    const [third] = await queue.claim()
    expect([third?.partition, third?.group]).toEqual([3, three])
    const own = { ...mail, id: 'own', group: three, dependsOn: [third?.id ?? ''] }
    expect(await third?.ackAndEnqueue(own, 'a result')).toMatchObject({ id: 'own' })
    await becomes(queue, 'own', 'ready')
    expect(await queue.inspect()).toMatchObject({ acked: 3, enqueued: 4, outbox: 0 })
  })

  test('is enqueued by any caller with the token, also in another queue and back', async () => {
    const { queue, redis, name, calls } = setup()
    await queue.enqueueMany([mail, mail, mail])
    const { jobs } = await queue.claimDetached({ limit: 3 })
    const [a, b, c] = jobs.map(({ id, token }) => ({ id, token })) as [
      { id: string; token: number },
      { id: string; token: number },
      { id: string; token: number },
    ]
    const other = `${name}-other`

    const settled = await queue.byToken.ackAndEnqueue([
      { ...a, next: { ...mail } },
      { ...b, next: { ...mail, queue: other, dependsOn: [{ queue: name, id: c.id }] } },
    ])

    expect(settled).toMatchObject([
      { outcome: 'acked', next: { id: expect.stringMatching(new RegExp(`^${a.id[0]}-`)) } },
      { outcome: 'acked', next: { id: null } },
    ])
    const there = redis.queue(other)
    await until(async () => (await there.inspect()).blocked === 1)
    // A dependency that ended before it was asked about is absent.
    await until(() => calls.includes('queue/watch'))
    await queue.byToken.ack([{ ...c, result: 'seen' }])
    const [job] = await there.claim({ wait: '20s' })
    expect(await job?.dependencies()).toMatchObject([
      { queue: name, id: c.id, state: 'done', result: 'seen' },
    ])
  })

  test('names dependencies of the queue by assigned ids', async () => {
    const { queue, calls } = setup()
    await queue.enqueue('mail', { to })
    const [job] = (await queue.claim()) as [ClaimedJob]
    const before = calls.length

    await expect(job.ackAndEnqueue({ ...mail, dependsOn: ['own'] })).rejects.toThrow(/next\.dependsOn/)
    await expect(job.ackAndEnqueue({ ...mail, id: '3-17' })).rejects.toThrow(InvalidArgumentError)

    expect([calls.slice(before), job.isClaimed]).toEqual([[], true])
  })
})
