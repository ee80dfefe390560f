// Memory of a feed follows what is in it: a message that stays behind keeps that of its neighbours for a while only, and a feed
// that has been emptied goes.

import { expect, test } from 'vitest'
import { setup } from '../feed-fixture.ts'

const MESSAGES = 20_000
const EACH = 25

test('memory of messages that are done comes back though one in twenty-five stays', async () => {
  const { feed, client, name } = await setup<number>()
  const log = `feed-test:{feed:${name}}:log`
  for (let from = 0; from < MESSAGES; from += 1000) {
    await feed.appendMany(Array.from({ length: 1000 }, (_, at) => ({ body: from + at })))
  }
  const full = (await client.memory('USAGE', log, 'SAMPLES', 0)) ?? 0

  for (let claimed = 0; claimed < MESSAGES; ) {
    const claim = await feed.claim({ limit: 100, lease: '1h' })
    claimed += claim?.messages.length ?? MESSAGES
    await claim?.ack(claim.messages.filter(({ body }) => body % EACH !== 0).map(({ id }) => id))
  }

  const left = (await client.memory('USAGE', log, 'SAMPLES', 0)) ?? 0
  const early = await client.memory('USAGE', log.replace(':log', ':early'), 'SAMPLES', 0)
  expect(left + (early ?? 0)).toBeLessThan(full / 3)
  expect((await feed.inspect()).total).toBe(MESSAGES / EACH)
})
