// Random histories on real scripts and on the model, which must answer the same, with the invariants of the stored data
// after each step. A failure prints the seed and the shortest failing history. PERILUNE_LONG=1 plays 10,000.

import fc from 'fast-check'
import { Redis } from 'ioredis'
import { afterAll, expect, inject, test } from 'vitest'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { START_US } from '../../src/testing/test-clock.ts'
import { countOf, SEED, tell } from '../proof.ts'
import { QueueCalls } from './queue-calls.ts'
import { History } from './queue-history.ts'
import { LetterReader } from './queue-letters.ts'
import { step } from './queue-steps.ts'

const client = new Redis({ host: '127.0.0.1', port: inject('redisPort') })
const listening = client.duplicate()
const driver = ioredis(client)

afterAll(async () => {
  await driver.close()
  listening.disconnect()
  client.disconnect()
})

// bullmq#3765, bullmq#1318, bullmq#3232
test('a queue answers every history as the model does', { timeout: 3_600_000 }, async () => {
  const history = fc.array(step, { minLength: 1, maxLength: 60, size: 'max' })
  const worker = await LetterReader.subscribe(listening)
  const property = fc.asyncProperty(history, (steps) =>
    new History(new QueueCalls(driver), client, worker).play(steps),
  )
  const numRuns = countOf(10_000, 60)

  await fc.assert(property, { numRuns, seed: SEED })
  const { quickClaims } = QueueCalls
  expect(quickClaims).toBeGreaterThan(0)
  expect(LetterReader.read).toBeGreaterThan(0)
  tell(
    `queue: ${numRuns} random histories answered as by the model, ${quickClaims} quick claims, ${LetterReader.read} jobs by letter, seed ${SEED}`,
  )
})

function payloads(count: number): string[] {
  return Array.from({ length: count }, (_, at) => String(at))
}

test('a worker that met only removed jobs returns at once for those after them', async () => {
  const calls = new QueueCalls(driver)
  await calls.setClock(START_US)
  const [, first] = await calls.run('enqueue-alike', { payloads: payloads(3102) })
  // Between others, and too many to be swept by those who cancel them, a thousand a call.
  const gone = payloads(3101).map((at) => String(Number(first) + Number(at)))
  for (const from of [1, 1001, 2001, 3001]) {
    await calls.run('cancel', { wanted: gone.slice(from, from + 1000) })
  }
  const claim = { limit: 1, worker: 'p.1' }
  const nowMs = START_US / 1000
  await calls.same('ack-and-claim', claim, ['claimed', nowMs, '*', false, 0, false, 0, [], '*', []])

  for (let passed = 1000; passed < 3100; passed += 1000) {
    await calls.same('ack-and-claim', claim, ['claimed', nowMs, 0, true, 1, false, 0, [], [], []])
  }
  const last = [Number(first) + 3101, '*', 1, 'mail', '3101']
  await calls.same('ack-and-claim', claim, ['claimed', nowMs, '*', false, 0, false, 0, [], [last], []])
  await calls.run('clear', {})
})

test('a repeated claim of a thousand jobs gets the same answer, also when more leases end at the same time', async () => {
  const calls = new QueueCalls(driver)
  await calls.setClock(START_US)
  await calls.run('enqueue-alike', { payloads: payloads(1700) })
  await calls.run('ack-and-claim', { limit: 700 })

  const answer = await calls.run('ack-and-claim', { limit: 1000, caller: 'p:1', call: '1' })

  expect(answer[8]).toHaveLength(1000)
  await calls.same('ack-and-claim', { limit: 1000, caller: 'p:1', call: '1' }, answer)
  await calls.run('clear', {})
})
