import { describe, expect, test } from 'vitest'
import { bodies, setup } from '../../test/feed-fixture.ts'

describe('subscribers', () => {
  test('a subscriber continues at its committed cursor', async () => {
    const { feed } = await setup<string>()
    await feed.appendMany([{ body: 'a' }, { body: 'b' }, { body: 'c' }])
    const ada = feed.subscriber('ada')
    for await (const message of ada.read()) {
      await ada.commit(message.cursor)
      if (message.body === 'b') break
    }

    const page = await feed.subscriber('ada').page()

    expect(bodies(page.messages)).toEqual(['c'])
  })

  test('retention waits for a protected subscriber', async () => {
    const { feed } = await setup<number>({ retention: 2 })
    const ada = feed.subscriber('ada', { protect: true })
    await ada.cursor()

    await feed.appendMany(Array.from({ length: 5 }, (_, body) => ({ body })))
    const kept = await ada.page()
    await ada.commit(kept.next)
    await feed.append(5)

    expect(bodies(kept.messages)).toEqual([0, 1, 2, 3, 4])
    expect((await feed.inspect()).total).toBe(2)
  })

  test('a subscriber can be deleted', async () => {
    const { feed } = await setup<number>()
    const ada = feed.subscriber('ada')
    const cursor = await ada.cursor()

    expect(await ada.forget()).toBe(true)
    expect(await ada.forget()).toBe(false)
    expect(await ada.commit(cursor)).toBeNull()
  })

  test('a commit and a deletion create no subscriber; a cursor, a page and a reader do', async () => {
    const { feed } = await setup<number>()
    await feed.append(1)
    const { next } = await feed.read()

    expect(await feed.subscriber('ada').commit(next)).toBeNull()
    expect(await feed.subscriber('ada').commit(next, { rewind: true })).toBeNull()
    expect(await feed.subscriber('ada').forget()).toBe(false)
    expect((await feed.inspect()).subscribers).toBe(0)

    await feed.subscriber('bob').cursor()
    await feed.subscriber('eve').page()
    for await (const message of feed.subscriber('joe').read()) if (message.body === 1) break
    expect((await feed.inspect()).subscribers).toBe(3)
  })
})
