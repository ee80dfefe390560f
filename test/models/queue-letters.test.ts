// When a job that comes while a worker waits travels in the letter to it, and when the worker has to claim it.

import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { readMessage } from '../../src/queue/events.ts'
import { START_US } from '../../src/testing/test-clock.ts'
import type { Arguments } from '../../src/testing/vector-contract.ts'
import { QueueCalls } from './queue-calls.ts'
import { LetterReader } from './queue-letters.ts'

const client = new Redis({ host: '127.0.0.1', port: inject('redisPort') })
const listening = client.duplicate()
const driver = ioredis(client)
let reader: LetterReader

beforeAll(async () => {
  reader = await LetterReader.subscribe(listening)
})

afterAll(async () => {
  await driver.close()
  listening.disconnect()
  client.disconnect()
})

/** The waiting workers of an inspection. */
const IDLE = 17

interface Scene {
  readonly calls: QueueCalls
  /** How the job is enqueued, unless a case says otherwise. */
  readonly one: Arguments
}

async function setUp(): Promise<Scene> {
  const calls = new QueueCalls(driver)
  await calls.setClock(START_US)
  return { calls, one: { payloads: ['{}'], ...reader.how } }
}

async function wait(calls: QueueCalls, worker: string): Promise<void> {
  await calls.run('ack-and-claim', { limit: 2, worker })
}

async function isClaimed({ calls, one }: Scene): Promise<boolean> {
  const [, number] = await calls.run('enqueue-alike', one)
  return (await client.hexists(`${calls.prefix}:jobs`, `r${Number(number)}`)) === 1
}

describe('a job that arrives while a worker waits', () => {
  test('is claimed for it at once, for as long as it claims jobs, and announced with its token', async () => {
    const scene = await setUp()
    await wait(scene.calls, reader.name(7000))

    expect(await isClaimed(scene)).toBe(true)

    const endsMs = START_US / 1000 + 7000
    expect(await reader.letter()).toBe(`${START_US} ${START_US} ${endsMs}\nmail\n{}`)
    const acks = [{ number: String(START_US), token: START_US }]
    await scene.calls.same('ack-and-claim-plain', { limit: 0, acks }, ['claimed', ...Array(9).fill('*')])
    expect(await scene.calls.run('inspect', {})).toMatchObject({ 12: 0, 18: 1, 19: 1 })
  })

  test('is published to listeners, as enqueued and as claimed', async () => {
    const scene = await setUp()
    const channel = `${scene.calls.prefix}:events`
    const messages: string[] = []
    const ears = client.duplicate()
    onTestFinished(() => ears.disconnect())
    ears.on('message', (_, message: string) => messages.push(message))
    await ears.subscribe(channel)
    await scene.calls.run('listen', { name: 'x.1', channel })
    await wait(scene.calls, reader.name(7000))

    expect(await isClaimed(scene)).toBe(true)

    await vi.waitUntil(() => messages.length > 0)
    const { events } = readMessage(messages[0] ?? '', { partition: null })
    expect(events).toMatchObject([
      { kind: 'enqueued', id: String(START_US), name: 'mail', token: null },
      { kind: 'claimed', id: String(START_US), name: 'mail', token: START_US, attempt: 1 },
    ])
    await reader.letter()
  })

  test('goes to a listening worker when the longest waiting one has died', async () => {
    const scene = await setUp()
    await wait(scene.calls, 'gone.1:5000')
    await wait(scene.calls, reader.name(5000))

    expect(await isClaimed(scene)).toBe(true)
    expect(await reader.letter()).toContain('mail')
  })

  test('is ready for all workers when no process listens', async () => {
    const scene = await setUp()
    await wait(scene.calls, 'gone.1:5000')

    expect(await isClaimed(scene)).toBe(false)
    await scene.calls.same('ack-and-claim', { limit: 1 }, [
      'claimed',
      ...Array(7).fill('*'),
      [[START_US, '*', 1, 'mail', '{}']],
      [],
    ])
  })

  test('is ready for all when the waiting worker takes no jobs by letter, and only that worker is woken', async () => {
    const scene = await setUp()
    await wait(scene.calls, 'm.0')
    await wait(scene.calls, reader.name(5000))

    expect(await isClaimed(scene)).toBe(false)
    expect((await scene.calls.run('inspect', {}))[IDLE]).toBe(1)
  })

  const unfit: Record<string, Arguments> = {
    'is not alone': { payloads: ['1', '2'] },
    'has a large payload': { payloads: ['x'.repeat(8193)] },
    'has a name of two lines': { name: 'a\nb' },
    'has bytes for a payload': { codec: 'bytes' },
    'comes where those who are gone are not known': { counted: false },
  }
  test.each(Object.entries(unfit))('and %s has to be claimed', async (_, given) => {
    const { calls, one } = await setUp()
    if (given['codec'] !== undefined) await calls.run('ack-and-claim', { limit: 0, codec: given['codec'] })
    await calls.run('ack-and-claim', { limit: 2, worker: reader.name(5000), codec: given['codec'] ?? 'json' })

    expect(await isClaimed({ calls, one: { ...one, ...given } })).toBe(false)
  })

  const others: Record<string, (calls: QueueCalls) => Promise<unknown>> = {
    'others are ready': (calls) => calls.run('enqueue-alike', { payloads: ['1', '2'] }),
    'the queue has settings': (calls) => calls.run('configure', { concurrency: 5 }),
    'jobs have priorities': async (calls) => {
      await calls.run('enqueue', { specs: [{ payload: '1', priority: 1 }] })
      await wait(calls, reader.name(5000))
    },
    'something is due': async (calls) => {
      await calls.run('enqueue', { specs: [{ payload: '1', delay_ms: 1000 }] })
      await calls.setClock(START_US + 1_000_000)
    },
  }
  test.each(Object.entries(others))('while %s has to be claimed', async (_, happen) => {
    const scene = await setUp()
    await wait(scene.calls, reader.name(5000))
    await wait(scene.calls, reader.name(5000))
    await wait(scene.calls, reader.name(5000))
    await happen(scene.calls)
    expect((await scene.calls.run('inspect', {}))[IDLE]).toBeGreaterThan(0)

    expect(await isClaimed(scene)).toBe(false)
  })
})
