// A server whose clock steps back, by itself or because a node with a slower clock took over.

import { expect, test } from 'vitest'
import { counted, setup } from '../../test/cache-fixture.ts'

test.each(['10s', '1h'] as const)(
  'a value loaded before a step back of %s is served once more and loaded again',
  async (step) => {
    const { cache, clock } = await setup<number>({ ttl: '30s', patience: '5s' })
    const loader = counted((run) => run)
    expect(await cache.get('a', loader.load)).toBe(1)

    await clock.advance(step === '1h' ? -3_600_000 : -10_000)

    expect(await cache.get('a', loader.load), 'the newer value is worth a short wait').toBe(2)
    expect(await cache.get('a', loader.load), 'the value is fresh by the current clock').toBe(2)
    await clock.advance(30_000)
    expect(await cache.get('a', loader.load)).toBe(3)
  },
)

test('nodes whose clocks differ by a few seconds load nothing twice', async () => {
  const { cache, clock } = await setup<number>({ ttl: '30s' })
  const loader = counted((run) => run)
  await cache.get('a', loader.load)

  await clock.advance(-4000)

  expect(await cache.get('a', loader.load)).toBe(1)
  expect(loader.runs()).toBe(1)
})
