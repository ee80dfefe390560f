// The bytes that each script of a queue moves inside the server, for payloads and results of any sizes from one
// byte to the largest: a call stops after the element with which it has moved 4 MiB, and a call that needs none of the
// large ones reads none.

import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { type ClaimedJob, perilune, type Queue } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { METER, metering, parseMetered } from '../faults/metered-driver.ts'
import { countOf } from '../proof.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'

const MIB = 2 ** 20
const CALL_BYTES = 4 * MIB
/** What a job may take beside a large payload: its record, where small payloads are, and its places in the lists. */
const BESIDE = 2 * 16 * 1024
const MOST_AT_ONCE = 40
const NAME = 'job'
/** Its name, and the quotes of JSON. */
const LARGEST = CALL_BYTES - NAME.length - 2

let server: RedisServer
let client: Redis
let redis: ReturnType<typeof perilune>

beforeAll(async () => {
  server = await startRedis()
  client = new Redis(server.port)
  redis = perilune(metering(ioredis(client)), { namespace: 'queue-bytes', deadline: '60s' })
})

afterAll(async () => {
  await redis.close()
  client.disconnect()
  await server.stop()
})

const size = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 16 * 1024 }) },
  { weight: 2, arbitrary: fc.integer({ min: 16 * 1024, max: CALL_BYTES / 8 }) },
  { weight: 1, arbitrary: fc.constantFrom(1, MIB, CALL_BYTES / 2, LARGEST) },
)
const sizes = fc.array(size, { minLength: 1, maxLength: MOST_AT_ONCE, size: 'max' })

const textOf = (length: number): string => 'x'.repeat(length)

/** The most bytes that one call of each script has moved since the last call of this. */
async function mostMoved(): Promise<Map<string, number>> {
  const most = new Map<string, number>()
  for (const { script, bytes } of (await client.lrange(METER, 0, -1)).map(parseMetered)) {
    most.set(script, Math.max(most.get(script) ?? 0, bytes))
  }
  await client.del(METER)
  return most
}

async function expectMoved(atMost: number): Promise<void> {
  for (const [script, bytes] of await mostMoved()) expect(bytes, script).toBeLessThanOrEqual(atMost)
}

async function claimAll(queue: Queue): Promise<ClaimedJob[]> {
  const all: ClaimedJob[] = []
  for (;;) {
    const jobs = await queue.claim({ limit: 200, lease: '10m' })
    if (jobs.length === 0) return all
    all.push(...jobs)
  }
}

const lengthsOf = (jobs: readonly { payload: unknown }[]): number[] =>
  jobs.map(({ payload }) => String(payload).length)

async function listAll(queue: Queue, state: 'ready' | 'done'): Promise<string[]> {
  const ids: string[] = []
  for (let after: string | undefined; ; ) {
    const page = await queue.jobs.list(state, { limit: 1000, ...(after === undefined ? {} : { after }) })
    ids.push(...page.jobs.map(({ id }) => id))
    if (page.next === null) return ids
    after = page.next
  }
}

test('with payloads and results of any sizes no call moves more than the limit of a call', async () => {
  const property = fc.asyncProperty(sizes, async (wanted) => {
    const queue = redis.queue(randomUUID())
    await queue.settings.set({ retention: { count: 1000 } })
    const heads = wanted.length * BESIDE + BESIDE
    const onePayload = CALL_BYTES + heads
    // The element with which the limit is reached may have as much.
    const payloads = 2 * CALL_BYTES + heads
    const payloadsAndResults = 3 * CALL_BYTES + heads
    await client.del(METER)

    const jobs = wanted.map((length) => ({ name: NAME, payload: textOf(length) }))
    const ids = (await queue.enqueueMany(jobs)).map(({ id }) => id)
    await expectMoved(onePayload)

    const claimed = await claimAll(queue)
    expect(lengthsOf(claimed)).toEqual(wanted)
    await expectMoved(payloads)
    await Promise.all(claimed.map((job) => job.extend('20m')))
    await Promise.all(claimed.map((job) => job.release()))
    await expectMoved(heads)

    const again = await claimAll(queue)
    expect(lengthsOf(again).toSorted((a, b) => a - b)).toEqual(wanted.toSorted((a, b) => a - b))
    await mostMoved()
    await Promise.all(again.map((job, at) => job.ack(textOf(wanted[at] ?? 0))))
    await expectMoved(payloads)

    expect((await listAll(queue, 'done')).toSorted()).toEqual(ids.toSorted())
    expect((await queue.jobs.getEach(ids)).every((job) => job?.state === 'done')).toBe(true)
    await expectMoved(payloadsAndResults)
    await queue.jobs.cancel(ids)
    await expectMoved(heads)
    await queue.clear()
  })

  await fc.assert(property, { numRuns: countOf(300, 8) })
}, 600_000)
