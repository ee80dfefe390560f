import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { Leavable } from './leavable.ts'
import { OneByOne } from './one-by-one.ts'

/** Yields one item, then waits until its signal aborts. */
async function* waiting(signal: AbortSignal, state: { isOver: boolean }) {
  try {
    yield 1
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  } finally {
    state.isOver = true
  }
}

function scene(signal?: AbortSignal) {
  const state = { isOver: false }
  return { state, items: new Leavable((left) => waiting(left, state), signal) }
}

describe('a pending next()', () => {
  test('resolves to the end on return()', async () => {
    const { state, items } = scene()
    expect(await items.next()).toEqual({ done: false, value: 1 })
    const asked = items.next()

    expect(await items.return()).toEqual({ done: true, value: undefined })

    expect(await asked).toEqual({ done: true, value: undefined })
    expect(state.isOver).toBe(true)
    expect((await items.next()).done).toBe(true)
  })

  test('resolves to the end on throw()', async () => {
    const { state, items } = scene()
    await items.next()
    const asked = items.next()

    await expect(items.throw(new Error('odd'))).rejects.toThrow('odd')

    expect((await asked).done).toBe(true)
    expect(state.isOver).toBe(true)
  })

  test("rejects with the reason when the caller's signal aborts", async () => {
    const aborter = new AbortController()
    const { items } = scene(aborter.signal)
    await items.next()
    const asked = items.next()

    aborter.abort(new Error('enough'))

    await expect(asked).rejects.toThrow('enough')
    expect((await items.next()).done).toBe(true)
  })
})

test("no listener is left on the caller's signal without a pending next()", async () => {
  const { signal } = new AbortController()
  const { items } = scene(signal)
  await items.next()
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
})

test('iteration over lists can be left too', async () => {
  const state = { isOver: false }
  async function* lists(signal: AbortSignal) {
    for await (const item of waiting(signal, state)) yield [item]
  }
  const items = new OneByOne(new Leavable(lists, undefined), () => false)
  await items.next()
  const asked = [items.next(), items.next()]

  expect((await items.return()).done).toBe(true)

  expect((await Promise.all(asked)).map(({ done }) => done)).toEqual([true, true])
  expect(state.isOver).toBe(true)
})
