// One partition of a queue does not answer, like all partitions on a silent node.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { AmbiguousError, type ClaimedJob, type PartitionedQueue, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { groupsFor } from '../../../test/partitioned-queue-fixture.ts'
import { until } from '../../../test/queue-fixture.ts'
import { type Silence, silencing } from '../../../test/silencing-driver.ts'
import { ServerReplyError } from '../../driver.ts'

type Jobs = { mail: string }
/** Shorter than the deadline of calls, which is a minute. */
const SOON = { timeout: 20_000 }

type Deadline = '1m' | '1s' | '300ms'

/** Partition 2 of 4 can be silenced; `plain` is the queue in another process. */
function setup(deadline: Deadline = '1m') {
  const client = new Redis(inject('redisPort'))
  const { driver, silence } = silencing(ioredis(client))
  const name = randomUUID()
  const open = (through = driver): PartitionedQueue<Jobs> => {
    const redis = perilune(through, { namespace: 'silent', deadline })
    onTestFinished(() => redis.close())
    return redis.queue<Jobs>(name, { partitions: 4 })
  }
  onTestFinished(() => {
    silence.end()
    client.disconnect()
  })
  const silenceKeys = (...units: string[]): void => {
    silence.of = ({ keys }) => units.some((unit) => keys[0]?.startsWith(`silent:{queue:${name}${unit}}`))
  }
  return { queue: open(), plain: open(ioredis(client)), open, silence, silenceKeys }
}

async function enqueueEach(queue: PartitionedQueue<Jobs>, times = 1): Promise<void> {
  for (const group of groupsFor(4)) {
    for (let n = 0; n < times; n++) await queue.enqueue('mail', group, { group })
  }
}

async function nothingIsHeld(plain: PartitionedQueue<Jobs>, silence: Silence): Promise<void> {
  silence.of = () => false
  silence.end()
  await until(async () => (await plain.inspect()).claimed === 0)
}

describe('with a silent partition', () => {
  test('jobs of the others are claimed without waiting for it, and its own are released', async () => {
    const { queue, plain, silence, silenceKeys } = setup()
    await enqueueEach(queue, 2)
    silenceKeys(':2')

    const claimed = await queue.claim({ limit: 3 })
    const { jobs: detached } = await queue.claimDetached({ limit: 8 })

    const payloads = [...claimed, ...detached].map(({ payload }) => payload)
    const [first, second, , last] = groupsFor(4)
    expect([payloads.length, new Set(payloads)]).toEqual([6, new Set([first, second, last])])
    await Promise.all([
      ...claimed.map((job) => job.ack()),
      queue.byToken.ack(detached.map(({ id, token }) => ({ id, token }))),
    ])
    await nothingIsHeld(plain, silence)
    expect((await plain.inspect()).ready).toBe(2)
  })

  test('a worker with low concurrency does the jobs of the others', SOON, async () => {
    const { queue, plain, silence, silenceKeys } = setup()
    await enqueueEach(queue, 5)
    silenceKeys(':2')
    const done: string[] = []

    const worker = queue.work({ mail: ({ payload }) => void done.push(payload) }, { concurrency: 1 })
    await until(() => done.length === 15)

    expect(done).not.toContain(groupsFor(4)[2])
    silence.of = () => false
    silence.end()
    await until(async () => (await plain.inspect()).acked === 20)
    await worker.close()
  })

  test('claims wait for jobs of the others', async () => {
    const { queue, plain, silence, silenceKeys } = setup()
    await enqueueEach(queue)
    await plain.claim({ limit: 4, lease: '1h' })
    silenceKeys(':2')
    const isSilent = silence.of
    let asked = 0
    silence.of = (call) => {
      if (call.script.name.startsWith('queue/ack-and-claim') && call.keys[0]?.includes(':1}')) asked += 1
      return isSilent(call)
    }

    const claiming = queue.claim({ wait: '1m' })
    await until(() => asked > 1)
    await plain.enqueue('mail', 'now', { group: groupsFor(4)[1] as string })

    expect((await claiming).map(({ payload }) => payload)).toEqual(['now'])
  })

  test('claims never return more jobs than asked for', async () => {
    const { queue, plain, silence, silenceKeys } = setup()
    await queue.enqueue('mail', 'slow', { group: groupsFor(4)[2] as string })
    silenceKeys(':2')

    const claiming = queue.claim({ limit: 1 })
    setTimeout(() => silence.end(), 1000)

    const jobs = await claiming
    expect(jobs.map(({ payload }) => payload)).toEqual(['slow'])
    await jobs[0]?.release()
    expect((await plain.inspect()).claimed).toBe(0)
  })

  test('a claim with unanswered acks rejects, and the claimed jobs are released', async () => {
    const { queue, plain, silenceKeys } = setup('300ms')
    await enqueueEach(queue, 2)
    const all = await queue.claim({ limit: 8 })
    const done = [1, 2].map((at) => all.find(({ partition }) => partition === at) as ClaimedJob)
    await Promise.all(all.filter((job) => !done.includes(job)).map((job) => job.release()))
    silenceKeys(':2')

    await expect(queue.claim({ limit: 8, acks: done })).rejects.toThrow(AmbiguousError)

    expect(done.map(({ outcome }) => outcome)).toEqual(['acked', null])
    // The silent partition claimed its job without an answer.
    expect(await plain.inspect()).toMatchObject({ ready: 5, claimed: 1, acked: 2 })
  })

  test('a new handle enqueues, also when the partition count cannot be checked', async () => {
    const { queue, open, silenceKeys } = setup('300ms')
    await enqueueEach(queue)
    silenceKeys('', ':0')

    const fresh = open()
    for (const group of groupsFor(4).slice(1)) await fresh.enqueue('mail', 'more', { group })

    expect(await fresh.claim({ limit: 6 })).toHaveLength(6)
  })
})

test.each<['claim' | 'claimDetached']>([['claim'], ['claimDetached']])(
  'where no partition answers %s ends before a call that was begun after it',
  async (method) => {
    const { queue, plain, silence } = setup('1s')
    await enqueueEach(plain)
    await queue.inspect()
    silence.of = () => true
    const ended: string[] = []
    const end = async (name: string, asked: Promise<unknown>): Promise<void> => {
      await asked.catch(() => undefined)
      ended.push(name)
    }

    const claiming = end(method, queue[method]())
    await new Promise((resolve) => setTimeout(resolve, 400))
    await Promise.all([claiming, end('find', queue.jobs.get('1'))])

    expect(ended).toEqual([method, 'find'])
  },
)

test('a list that one partition has rejected, and of which another may have some jobs, is ambiguous', async () => {
  const { queue, plain, silence, silenceKeys } = setup('300ms')
  await enqueueEach(plain)
  silenceKeys(':2')
  const isSilent = silence.of
  silence.of = (call) => {
    if (call.keys[0]?.includes(':0}')) throw new ServerReplyError('OOM command not allowed')
    return isSilent(call)
  }
  const [first, , third] = groupsFor(4)

  const enqueuing = queue.enqueueMany(
    [first, third].map((group) => ({ name: 'mail', payload: 'x', group: group as string })),
  )

  await expect(enqueuing).rejects.toThrow(AmbiguousError)
})
