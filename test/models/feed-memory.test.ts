// The memory of a feed follows its content: a message that stays keeps the memory of its neighbours only for a while,
// an emptied feed is removed, and expired messages are removed at least as fast as others arrive.

import { expect, test } from 'vitest'
import { type Setup, setup } from '../feed-fixture.ts'

const MESSAGES = 20_000
const EACH = 25

async function bytesOf(
  { client, name }: Pick<Setup<number>, 'client' | 'name'>,
  log: string,
): Promise<number> {
  return (await client.memory('USAGE', `feed-test:{feed:${name}}:${log}`, 'SAMPLES', 0)) ?? 0
}

test('memory of done messages is freed though one in twenty-five stays', async () => {
  const { feed, client, name } = await setup<number>()
  for (let from = 0; from < MESSAGES; from += 1000) {
    await feed.appendMany(Array.from({ length: 1000 }, (_, at) => ({ body: from + at })))
  }
  const full = await bytesOf({ client, name }, 'log')

  for (let claimed = 0; claimed < MESSAGES; ) {
    const claim = await feed.claim({ limit: 100, lease: '1h' })
    claimed += claim?.messages.length ?? MESSAGES
    await claim?.ack(claim.messages.filter(({ body }) => body % EACH !== 0).map(({ id }) => id))
  }

  const left = (await bytesOf({ client, name }, 'log')) + (await bytesOf({ client, name }, 'early'))
  expect(left).toBeLessThan(full / 3)
  expect((await feed.inspect()).total).toBe(MESSAGES / EACH)
})

test('memory of expired dead letters is freed though one in twenty-five stays', async () => {
  const { feed, client, name, clock } = await setup<number>({ maxClaims: 1 })
  const killAll = async (): Promise<void> => {
    const claim = await feed.claim({ limit: 1000, lease: '1s' })
    await claim?.release()
    await feed.claim({ limit: 1000 })
  }
  for (let from = 0; from < 5000; from += 1000) {
    const lives = (at: number): { ttl?: '1m' } => (at % EACH === 0 ? {} : { ttl: '1m' })
    await feed.appendMany(Array.from({ length: 1000 }, (_, at) => ({ body: from + at, ...lives(at) })))
    await killAll()
  }
  const full = await bytesOf({ client, name }, 'dead-log')

  await clock.advance(60_000)
  for (let round = 0; round < 150; round += 1) {
    await feed.append(round, { ttl: '2s' })
    await killAll()
    await clock.advance(2000)
  }

  const left = (await bytesOf({ client, name }, 'dead-log')) + (await bytesOf({ client, name }, 'dead-early'))
  expect(left).toBeLessThan(full / 3)
  expect((await feed.inspect()).deadLetters).toBe(5000 / EACH)
})

test('as many delayed messages become visible as are appended, and those over the limit are removed', async () => {
  const { feed, client, name, clock } = await setup<number>({ retention: 100 })

  for (let round = 0; round < 5; round += 1) {
    await feed.appendMany(Array.from({ length: 1000 }, (_, at) => ({ body: at, delay: '1s' })))
    await clock.advance(1000 + 1)
  }

  expect(await client.zcard(`feed-test:{feed:${name}}:delayed`)).toBe(1000)
  expect(await client.hlen(`feed-test:{feed:${name}}:parked`)).toBeLessThanOrEqual(1100)
})

test('bytes over the limit are removed as fast as others arrive, however many messages have them', async () => {
  const KEPT = 400_000
  const { feed } = await setup<string>({ retention: { bytes: KEPT } })
  for (let round = 0; round < 4; round += 1) {
    await feed.appendMany(Array.from({ length: 1000 }, () => ({ body: 'x'.repeat(98) })))
  }

  const sizes: number[] = []
  for (let round = 0; round < 5; round += 1) {
    await feed.append('y'.repeat(100_000))
    sizes.push((await feed.inspect()).bytes)
  }

  expect(Math.max(...sizes)).toBeLessThanOrEqual(KEPT)
})
