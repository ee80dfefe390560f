// The bytes that each script of a feed reads inside the server, for bodies of any sizes from one byte to the largest: a
// script that returns bodies stops after the one with which they reach 4 MiB, and a script that needs none reads none
// of the large ones.

import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { type Feed, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { afterAll, expect, inject, test } from 'vitest'
import type { Script } from '../../src/driver.ts'
import { bytes } from '../../src/runtime/values/codec.ts'
import { rewriting } from '../faults/rewriting-driver.ts'
import { countOf } from '../proof.ts'

const CALL_BYTES = 4 * 1024 * 1024
const INLINE_BYTES = 16 * 1024
const MOST_AT_ONCE = 60
// Besides bodies: positions, ids, the state of claims.
const BESIDE = 1000

const meter = `bytes-read-${randomUUID()}`
const client = new Redis(inject('redisPort'))
const redis = perilune(rewriting(ioredis(client), counted), { namespace: 'feed-bytes', deadline: '60s' })

afterAll(async () => {
  await redis.close()
  client.disconnect()
})

function counted({ name, source }: Script): string {
  return `local server, read = redis, 0
local function count(part)
  if type(part) == 'string' then
    read = read + #part
  elseif type(part) == 'table' then
    for _, inner in ipairs(part) do
      count(inner)
    end
  end
  return part
end
local redis = setmetatable({
  call = function(...) return count(server.call(...)) end,
  pcall = function(...) return count(server.pcall(...)) end,
}, { __index = server })
local function script()
${source}
end
local answer = script()
server.call('RPUSH', '${meter}', '${name} ' .. read)
return answer`
}

/** The bytes that scripts have read since the last call of this: the maximum of each. */
async function mostRead(): Promise<Record<string, number>> {
  const most: Record<string, number> = {}
  for (const line of await client.lrange(meter, 0, -1)) {
    const [script = '', read] = line.split(' ')
    most[script.replace('feed/', '')] = Math.max(most[script.replace('feed/', '')] ?? 0, Number(read))
  }
  await client.del(meter)
  return most
}

const size = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: INLINE_BYTES }) },
  { weight: 2, arbitrary: fc.integer({ min: INLINE_BYTES - 2, max: CALL_BYTES / 8 }) },
  { weight: 1, arbitrary: fc.constantFrom(1, INLINE_BYTES, INLINE_BYTES + 1, CALL_BYTES / 2, CALL_BYTES) },
)
const sizes = fc.array(size, { minLength: 1, maxLength: MOST_AT_ONCE, size: 'max' })

function sum(parts: readonly { body: Uint8Array }[]): number {
  return parts.reduce((total, { body }) => total + body.length, 0)
}

/** None after the one that uses up the budget of a call. */
function expectOneCall(messages: readonly { body: Uint8Array }[]): void {
  expect(sum(messages.slice(0, -1))).toBeLessThan(CALL_BYTES)
}

/** Only heads: the reads of a call that returns no bodies. */
function headsOf(count: number): number {
  return count * (INLINE_BYTES + BESIDE)
}

async function readAll(feed: Feed<Uint8Array>, includeDelayed: boolean): Promise<number[]> {
  const lengths: number[] = []
  for (let after = ''; ; ) {
    const page = await feed.read({ limit: 1000, includeDelayed, ...(after === '' ? {} : { after }) })
    expectOneCall(page.messages)
    lengths.push(...page.messages.map(({ body }) => body.length))
    after = page.next
    if (!page.more) return lengths
  }
}

/** Claims all, and gives back or acks them; how many bytes each had. */
async function claimAll(feed: Feed<Uint8Array>, end: 'ack' | 'release'): Promise<number[]> {
  const lengths: number[] = []
  const claims = []
  for (;;) {
    const claim = await feed.claim({ limit: 1000, lease: '10m' })
    if (claim === null) break
    expectOneCall(claim.messages)
    await claim.extend('20m')
    lengths.push(...claim.messages.map(({ body }) => body.length))
    claims.push(claim)
  }
  for (const claim of claims) await claim[end]()
  return lengths
}

test('with bodies of any sizes each call reads and returns no more than the limit of a call', async () => {
  const property = fc.asyncProperty(sizes, async (wanted) => {
    const feed = redis.feed<Uint8Array>(randomUUID(), { codec: bytes, retention: MOST_AT_ONCE })
    const made = wanted.map((length) => ({ body: Buffer.alloc(length, 1) }))
    const ids = (await feed.appendMany(made)).map(({ id }) => id)
    const heads = headsOf(wanted.length)
    await mostRead()

    expect(await readAll(feed, false)).toEqual(wanted)
    expect((await feed.get(ids)).messages.map(({ body }) => body.length)).toEqual(wanted)
    const largest = await mostRead()
    expect(largest['read']).toBeLessThanOrEqual(2 * CALL_BYTES + heads)
    expect(largest['get']).toBeLessThanOrEqual(2 * CALL_BYTES + heads)

    expect(await claimAll(feed, 'release')).toEqual(wanted)
    const { claim = 0, ...others } = await mostRead()
    expect(claim).toBeLessThanOrEqual(2 * CALL_BYTES + heads)
    expect(Math.max(...Object.values(others)), Object.keys(others).join()).toBeLessThan(
      wanted.length * BESIDE + BESIDE,
    )

    await redis.feed(feed.name, { codec: bytes, retention: 1 }).append(Buffer.alloc(1))
    expect((await mostRead())['append']).toBeLessThanOrEqual(heads)
    expect((await feed.inspect()).total).toBe(1)
    await feed.clear()
  })

  await fc.assert(property, { numRuns: countOf(300, 10) })
}, 600_000)

test('with delayed bodies of any sizes, too', async () => {
  const property = fc.asyncProperty(sizes, async (wanted) => {
    const feed = redis.feed<Uint8Array>(randomUUID(), { codec: bytes })
    const made = wanted.map((length) => ({ body: Buffer.alloc(length, 1), delay: '1h' }) as const)
    const ids = (await feed.appendMany(made)).map(({ id }) => id)
    await mostRead()

    expect(await readAll(feed, true)).toEqual(wanted)
    expect((await mostRead())['read']).toBeLessThanOrEqual(2 * CALL_BYTES + headsOf(wanted.length))
    await feed.remove(ids)
    expect((await mostRead())['remove']).toBeLessThanOrEqual(headsOf(wanted.length))
    expect((await feed.inspect()).total).toBe(0)
    await feed.clear()
  })

  await fc.assert(property, { numRuns: countOf(300, 5) })
}, 600_000)
