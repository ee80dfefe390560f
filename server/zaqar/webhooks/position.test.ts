import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { instance } from '../../../test/instance.ts'
import { cameAfter, positionOf, reachedBy, visibleAtMs } from './position.ts'

test('markers of a feed have an order, and show until when the next message is delayed', async () => {
  const { redis, name } = instance()
  const feed = redis.feed(name)
  const before = (await feed.read({ after: 'end' })).next
  expect(positionOf(before)).toEqual({ epoch: 0, at: 0 })
  const [one, two] = await feed.appendMany([{ body: 1 }, { body: 2 }])

  const end = positionOf((await feed.read({ after: 'end' })).next)
  expect(reachedBy(one?.cursor ?? '', end)).toBeLessThan(reachedBy(two?.cursor ?? '', end))
  expect(reachedBy(two?.cursor ?? '', end)).toBe(end.at)
  expect(visibleAtMs(two?.cursor ?? '')).toBeNull()

  const delayed = await feed.append(3, { delay: '1h' })
  const page = await feed.read({ after: 'end', limit: 1, includeDelayed: true })
  expect(reachedBy(page.next, end)).toBeGreaterThanOrEqual(end.at)
  expect(visibleAtMs(page.next)).toBe(Math.ceil(Number(delayed.id) / 1000) + 3_600_000)
})

test('a marker of an earlier life of the feed is before all of the present one', async () => {
  const { redis, name } = instance()
  const feed = redis.feed(name)
  const { cursor: marker } = await feed.append(1)
  await feed.clear()
  await sleep(2)
  const { cursor: later } = await feed.append(2)

  const end = positionOf(later ?? '')
  expect([reachedBy(marker ?? '', end), reachedBy('', end)]).toEqual([0, 0])
  expect(reachedBy(later ?? '', end)).toBe(end.at)
})

test('messages appended after an end came after it, whenever they become visible, and whatever the clock says', async () => {
  const { redis, name } = instance()
  const feed = redis.feed(name)
  const end = async (): Promise<string> => (await feed.read({ after: 'end', limit: 1 })).next
  const ofNothing = await end()
  const before = await feed.append(1, { delay: '10ms' })
  const confirmed = await end()
  const [after, late] = [await feed.append(2), await feed.append(3, { delay: '10ms' })]
  await sleep(20)

  const { messages } = await feed.read({ limit: 10 })
  const those = (since: string): string[] =>
    messages.filter((message) => cameAfter(message, since)).map(({ id }) => id)
  expect(new Set(those(ofNothing))).toEqual(new Set([before.id, after.id, late.id]))
  expect(new Set(those(confirmed))).toEqual(new Set([after.id, late.id]))
  expect(those('')).toHaveLength(3)

  // Of a life that begins after the clock has stepped back.
  expect(cameAfter({ id: '5', cursor: '5-5' }, '1795678465048138-1795678465048138')).toBe(true)
})
