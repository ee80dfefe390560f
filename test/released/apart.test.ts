// Large bodies and payloads stand apart since the release, which stored them whole and knows of no other place: what it stored
// is read whole here, and what it cannot read it refuses.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { afterAll, expect, inject, test } from 'vitest'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { runOperation } from '../../src/testing/run-operation.ts'
import { START_US, setTestClock } from '../../src/testing/test-clock.ts'
import type { Arguments, Contract } from '../../src/testing/vector-contract.ts'
import { argumentsOf } from '../../src/testing/vector-file.ts'
import type { Value } from '../../src/testing/vector-value.ts'
import { readContract, readVectors } from '../conformance/files.ts'

const LARGE = 'x'.repeat(20_000)

const current = readContract()
const released = readContract('../released/contract.json')
const vectors = { feed: readVectors('feed'), queue: readVectors('queue') }
const client = new Redis(inject('redisPort'))
const driver = ioredis(client)

afterAll(async () => {
  await driver.close()
  client.disconnect()
})

type Call = (contract: Contract, operation: string, args?: Arguments) => Promise<Value[]>

/** The release has fewer arguments. */
function knownTo({ operations }: Contract, operation: string, args: Arguments): Arguments {
  const names = new Set(operations[operation]?.arguments.map(({ name }) => name))
  return Object.fromEntries(Object.entries(args).filter(([name]) => names.has(name)))
}

async function unitOf(
  structure: 'feed' | 'queue',
): Promise<{ prefix: string; call: Call; advance: (ms: number) => Promise<void> }> {
  const prefix = `apart-test:{${structure}:${randomUUID()}}`
  let [us, calls] = [START_US, 0]
  const advance = (ms: number): Promise<void> => {
    us += ms * 1000
    return setTestClock(driver, prefix, us)
  }
  await advance(0)
  const call: Call = (contract, name, args = {}) => {
    const operation = `${structure}/${name}`
    const all = argumentsOf(vectors[structure], operation, { ...args, call: String((calls += 1)) })
    return runOperation(driver, contract, operation, `${prefix}:`, knownTo(contract, operation, all))
  }
  return { prefix, call, advance }
}

test('a delayed message that the release stored comes with its body', async () => {
  const { prefix, call, advance } = await unitOf('feed')
  await call(released, 'append', { messages: [{ body: LARGE, delay_ms: 1000, ttl_ms: 60_000 }] })
  await advance(1000)

  await call(current, 'settle')

  const page = await call(current, 'read')
  expect(page.at(-2)).toEqual([expect.arrayContaining([LARGE])])
  expect(await client.pttl(`${prefix}:bodies`)).toBeGreaterThan(0)
})

test('a feed with a subscriber of the release stays when it has been emptied', async () => {
  const { prefix, call } = await unitOf('feed')
  const [, , id] = await call(released, 'append', { messages: [{ body: 'a' }] })
  await call(released, 'subscribe', { name: 's' })

  await call(current, 'remove', { ids: [Number(id)] })

  expect(await client.pttl(`${prefix}:meta`)).toBe(-1)
})

test('a feed in which a body stands apart is refused by the release', async () => {
  const { call } = await unitOf('feed')
  await call(current, 'append', { messages: [{ body: LARGE }] })

  await expect(call(released, 'read')).rejects.toThrow('LAYOUT 2')
  await expect(call(released, 'claim')).rejects.toThrow('LAYOUT 2')
  await expect(call(released, 'append', { messages: [{ body: 'b' }] })).rejects.toThrow('LAYOUT 2')
})

test('a feed with a delayed message whose body stands apart is refused by the release', async () => {
  const { call } = await unitOf('feed')
  await call(current, 'append', { messages: [{ body: LARGE, delay_ms: 1000 }] })

  await expect(call(released, 'settle')).rejects.toThrow('LAYOUT 2')
})

test('a queue in which a payload stands apart is refused by the release', async () => {
  const { call } = await unitOf('queue')
  await call(current, 'enqueue', { specs: [{ payload: LARGE }] })

  await expect(call(released, 'ack-and-claim')).rejects.toThrow('LAYOUT 2')
  await expect(call(released, 'inspect')).rejects.toThrow('LAYOUT 2')
})
