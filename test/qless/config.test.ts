import { describe, expect, test } from 'vitest'
import { begin } from './fixture.ts'

const NOTHING_SET = {
  paused: false,
  concurrency: 0,
  rateLimit: 0,
  rateWindowMs: 0,
  retentionCount: 0,
  retentionMs: 0,
}

describe('TestConfig', () => {
  test('test_all: one call returns all settings of a queue', async () => {
    const { queue } = await begin()

    expect(await queue.inspect()).toMatchObject(NOTHING_SET)
  })

  test('test_get: each setting is returned under its own name', async () => {
    const { queue } = await begin()
    await queue.settings.pause()
    await queue.settings.set({
      concurrency: 1,
      rate: { limit: 2, window: '3s' },
      retention: { count: 4, age: '5s' },
    })

    expect(await queue.inspect()).toMatchObject({
      paused: true,
      concurrency: 1,
      rateLimit: 2,
      rateWindowMs: 3000,
      retentionCount: 4,
      retentionMs: 5000,
    })
  })

  test('test_set_get: every handle returns a changed setting, and nothing else changes', async () => {
    const { queue, redis, name } = await begin()
    await queue.settings.set({ concurrency: 5 })
    await queue.settings.set({ retention: { count: 7 } })

    expect(await redis.queue(name).inspect()).toMatchObject({
      ...NOTHING_SET,
      concurrency: 5,
      retentionCount: 7,
    })
  })

  test('test_unset_default: a removed setting is as it was before it was set', async () => {
    const { queue } = await begin()
    await queue.settings.set({ concurrency: 5, rate: { limit: 2, window: '3s' }, retention: { age: '1d' } })

    await queue.settings.set({ concurrency: null, rate: null, retention: null })

    expect(await queue.inspect()).toMatchObject(NOTHING_SET)
  })

  test('test_unset: a removed setting no longer affects claims', async () => {
    const { queue, put, popIds } = await begin()
    for (const id of ['a', 'b']) await put(id)
    await queue.settings.set({ concurrency: 1 })
    expect([await popIds(10), await popIds()]).toEqual([['a'], []])

    await queue.settings.set({ concurrency: null })

    expect(await popIds()).toEqual(['b'])
  })
})
