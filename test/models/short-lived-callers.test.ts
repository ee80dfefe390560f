// A call is remembered for ten minutes. Callers that live for one call (a cloud function, a cron job) must not leave a
// record each for ever: new records replace old ones.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { runOperation } from '../../src/testing/run-operation.ts'
import { START_US, setTestClock } from '../../src/testing/test-clock.ts'
import type { Arguments } from '../../src/testing/vector-contract.ts'
import { argumentsOf } from '../../src/testing/vector-file.ts'
import { readContract, readVectors } from '../conformance/files.ts'

const MINUTE_US = 60_000_000
const MANY = 200

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

/** Each writes its record in a way of its own, or for another structure. */
const CALLS: Record<string, Arguments> = {
  'feed/append': { messages: [{ body: 'm' }] },
  'feed/append-alike': { bodies: ['m'] },
  'queue/enqueue': { specs: [{}] },
  'queue/enqueue-alike': { payloads: ['p'] },
  'collection/replace': { parts: ['i'] },
  'autocomplete/add': { added: [{ id: 'i', text: 't', marked: 't' }] },
  'cache/set': {},
  'counters/increment': { counters: [{ id: 'i', delta: 1 }] },
  'rate-limit/take': { limits: [limit()] },
  'rate-limit/take-each': { takes: [{}], limit: 1_000_000, burst: 1_000_000 },
}

function limit(): Arguments {
  return { name: 'l', algorithm: 'gcra', limit: 1_000_000, window_ms: 1000, burst: 1_000_000 }
}

test.each(Object.keys(CALLS))('%s forgets callers of one call', async (operation) => {
  const [structure = ''] = operation.split('/')
  const vectors = readVectors(structure)
  const prefix = `conformance:{${structure}:${randomUUID()}}`
  const call = (caller: string, name = operation): Promise<unknown[]> => {
    const all = argumentsOf(vectors, name, { ...CALLS[name], caller, call: 1 })
    return runOperation(driver, contract, name, `${prefix}:`, all)
  }
  const remembered = async (of: string): Promise<number> => {
    const keys = await client.keys(`${prefix}:*`)
    const hashes = await Promise.all(
      keys.map(async (key) => ((await client.type(key)) === 'hash' ? client.hkeys(key) : [])),
    )
    return hashes.flat().filter((field) => field.startsWith(of)).length
  }
  await setTestClock(driver, prefix, START_US)
  if (operation.endsWith('-alike')) await call('first', operation.replace('-alike', ''))

  for (let at = 0; at < MANY; at += 1) await call(`old${at}.0`)
  const before = await remembered('old')
  await setTestClock(driver, prefix, START_US + 11 * MINUTE_US)
  for (let at = 0; at < MANY; at += 1) await call(`new${at}.0`)

  expect(before).toBe(MANY)
  // Each call takes a sample: chance may leave some.
  expect(await remembered('old')).toBeLessThan(MANY / 10)
  expect(await remembered('new')).toBe(MANY)
})
