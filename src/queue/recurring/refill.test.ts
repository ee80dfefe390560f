import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { perilune } from 'perilune'
import { expect, inject, onTestFinished, test } from 'vitest'
import { readContract, readVectors } from '../../../test/conformance/files.ts'
import { until } from '../../../test/queue-fixture.ts'
import { ioredis } from '../../drivers/ioredis.ts'
import { runOperation } from '../../testing/run-operation.ts'
import { argumentsOf } from '../../testing/vector-file.ts'
import { comingTimes, type CronRule, nextTimes } from './recurrence.ts'

const DAY = 86_400_000
// The clocks of Berlin are set back four hours after this.
const NOW = Date.UTC(2026, 9, 24, 21, 17)

const rule = (cron: string, missed: number): CronRule => {
  return { kind: 'cron', cron, timeZone: 'Europe/Berlin', missed }
}

test.each([
  ['*/7 * * * *', 1],
  ['*/7 * * * *', 200],
  ['30 2 * * *', 0],
  ['0 0 * * MON-FRI', 9],
])(
  'the times supplied for %s with missed %i are as many of the latest, one at least, and fifty to come',
  (cron, missed) => {
    const knownMs = NOW - 3 * DAY
    const over = nextTimes(rule(cron, missed), knownMs, 1000).filter((time) => time <= NOW)
    const coming = nextTimes(rule(cron, missed), NOW, 50)

    expect(comingTimes(rule(cron, missed), knownMs, NOW)).toEqual([
      ...over.slice(-Math.max(1, missed)),
      ...coming,
    ])
  },
)

test('the times after the known ones are supplied when these are not over', () => {
  const known = NOW + DAY
  expect(comingTimes(rule('0 * * * *', 1), known, NOW)).toEqual(nextTimes(rule('0 * * * *', 1), known, 50))
})

test('a recurring job whose times cannot be computed here does not delay others', async () => {
  const client = new Redis(inject('redisPort'))
  const driver = ioredis(client)
  const redis = perilune(driver, { namespace: 'refilling' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  const name = randomUUID()
  const queue = redis.queue(name)
  // Like a process that sets them and dies before it has supplied any times.
  for (const [id, zone] of [
    ['elsewhere', 'Mars/Base'],
    ['here', 'UTC'],
  ]) {
    const given = { id, every_ms: 0, cron: '0 0 1 1 *', time_zone: zone, payload: '1' }
    const args = argumentsOf(readVectors('queue'), 'queue/recur', given)
    await runOperation(driver, readContract(), 'queue/recur', `refilling:{queue:${name}}:`, args)
  }
  expect((await queue.recurring.get('here'))?.nextAtMs).toBe(null)

  await queue.claim()

  await until(async () => (await queue.recurring.get('here'))?.nextAtMs !== null)
  expect((await queue.recurring.get('elsewhere'))?.nextAtMs).toBe(null)
})
