// Idempotency keys are remembered for a time, and so are the ends of jobs. Calls with a thousand keys each, or as many
// ended jobs, must not fill the memory: as many keys expire as arrive.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { runOperation } from '../../src/testing/run-operation.ts'
import { START_US, setTestClock } from '../../src/testing/test-clock.ts'
import type { Arguments } from '../../src/testing/vector-contract.ts'
import { argumentsOf } from '../../src/testing/vector-file.ts'
import { readContract, readVectors } from '../conformance/files.ts'
import { someOf } from '../proof.ts'

const KNOWN_MS = 1000

const contract = readContract()
let client: Redis
let driver: ReturnType<typeof ioredis>

beforeAll(() => {
  client = new Redis(inject('redisPort'))
  driver = ioredis(client)
})

afterAll(async () => {
  await driver.close()
  client.disconnect()
})

const CALLS: Record<string, (keys: readonly string[]) => Arguments> = {
  'feed/append': (keys) => ({ messages: keys.map((key) => ({ body: 'm', key })), retention_count: 10 }),
  'counters/increment': (keys) => ({ counters: keys.map((key) => ({ id: 'i', delta: 1, key })) }),
}

/** The calls that a counter needs before it counts. */
const FIRST: Record<string, readonly [string, Arguments][]> = {
  'counters/increment': [
    ['counters/begin', { epoch: 1, known: 0, keep: 'pending' }],
    ['counters/load', { epoch: 1, seq: 0, retain_ms: 0, counters: [{ id: 'i', value: '0' }] }],
  ],
}

const rows = Object.keys(CALLS).flatMap((operation) =>
  [1, 50, 1000].map((size) => [operation, size] as const),
)

test.each(someOf(rows, 3))(
  '%s of %i keys a call keeps no more keys than twice the known ones',
  async (operation, size) => {
    const [structure = ''] = operation.split('/')
    const vectors = readVectors(structure)
    const prefix = `conformance:{${structure}:${randomUUID()}}`
    let [nowUs, calls] = [START_US, 0]
    const run = (name: string, args: Arguments): Promise<unknown[]> =>
      runOperation(driver, contract, name, `${prefix}:`, argumentsOf(vectors, name, args))
    const call = (keys: readonly string[]): Promise<unknown[]> => {
      calls += 1
      const known = { idempotency_ttl_ms: KNOWN_MS, caller: 'c.0', call: String(calls) }
      return run(operation, { ...CALLS[operation]?.(keys), ...known })
    }
    await setTestClock(driver, prefix, nowUs)
    for (const [name, args] of FIRST[operation] ?? []) await run(name, args)
    let most = 0
    // Ten calls fall into the time for which a key is known.
    for (let at = 0; at < 200; at += 1) {
      nowUs += (KNOWN_MS * 1000) / 10
      await setTestClock(driver, prefix, nowUs)
      await call(Array.from({ length: size }, (_, each) => `${at}-${each}`))
      if (at > 100) most = Math.max(most, await client.hlen(`${prefix}:once`))
    }

    expect(most).toBeGreaterThanOrEqual(size * 10)
    // Chance may let it swing.
    expect(most).toBeLessThan(size * 20 + Math.max(30, size * 5))
  },
)

test.each([1, 50, 500])(
  'ends of %i jobs a call are no more than twice the kept ones',
  { timeout: 60_000 },
  async (size) => {
    const vectors = readVectors('queue')
    const prefix = `conformance:{queue:${randomUUID()}}`
    let nowUs = START_US
    const run = (name: string, args: Arguments): Promise<unknown[]> =>
      runOperation(driver, contract, name, `${prefix}:`, argumentsOf(vectors, name, args))
    let most = 0
    for (let at = 0; at < 120; at += 1) {
      nowUs += (KNOWN_MS * 1000) / 10
      await setTestClock(driver, prefix, nowUs)
      const ids = Array.from({ length: size }, (_, each) => `${at}-${each}`)
      await run('queue/enqueue', {
        specs: ids.map((id) => ({ payload: 'p', id, result_ttl_ms: KNOWN_MS })),
        caller: 'c.0',
        call: String(at + 1),
      })
      await run('queue/cancel', { wanted: ids })
      // Two fields each.
      if (at > 60) most = Math.max(most, (await client.hlen(`${prefix}:results`)) / 2)
    }

    expect(most).toBeGreaterThanOrEqual(size * 10)
    expect(most).toBeLessThan(size * 20 + Math.max(30, size * 5))
  },
)
