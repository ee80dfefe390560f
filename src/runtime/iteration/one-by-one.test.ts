import { describe, expect, test } from 'vitest'
import { OneByOne } from './one-by-one.ts'

/** Lists that arrive when the test sends them, until it ends them. Like a subscription's, they check the signal. */
function lists(signal?: AbortSignal) {
  const sent: number[][] = []
  let wake = (): void => undefined
  const state = { isOver: false, asked: 0 }
  async function* make(): AsyncGenerator<readonly number[], void, undefined> {
    try {
      for (;;) {
        signal?.throwIfAborted()
        state.asked += 1
        while (sent.length === 0) await new Promise<void>((resolve) => (wake = resolve))
        const list = sent.shift() ?? []
        if (list[0] === -1) return
        yield list
      }
    } finally {
      state.isOver = true
    }
  }
  const send = (...list: number[]): void => {
    sent.push(list)
    wake()
  }
  return { items: new OneByOne(make(), () => signal?.aborted === true), send, state }
}

describe('iteration over lists', () => {
  test('yields items one by one, and reads a list when the previous one is used up', async () => {
    const { items, send, state } = lists()
    send(1, 2)
    send()
    send(3)
    send(-1)
    expect(await items.next()).toEqual({ done: false, value: 1 })
    expect(await items.next()).toEqual({ done: false, value: 2 })
    expect(state.asked).toBe(1)

    const rest: number[] = []
    for await (const item of items) rest.push(item)
    expect(rest).toEqual([3])
    expect(await items.next()).toEqual({ done: true, value: undefined })
  })

  test('keeps the order for reads made before the items arrive', async () => {
    const { items, send } = lists()
    const asked = [items.next(), items.next(), items.next()]
    send(1, 2)
    await asked[0]
    asked.push(items.next())
    send(3, 4, 5)

    expect((await Promise.all(asked)).map(({ value }) => value)).toEqual([1, 2, 3, 4])
    expect((await items.next()).value).toBe(5)
  })

  test('ends within a list with the reason of the signal', async () => {
    const aborter = new AbortController()
    const { items, send, state } = lists(aborter.signal)
    send(1, 2, 3)
    await items.next()
    aborter.abort(new Error('enough'))

    await expect(items.next()).rejects.toThrow('enough')
    expect(state.isOver).toBe(true)
    expect((await items.next()).done).toBe(true)
  })

  test('drops the rest when the loop ends, for any reason', async () => {
    const { items, send, state } = lists()
    send(1, 2, 3)
    for await (const item of items) if (item === 1) break
    expect(state.isOver).toBe(true)
    expect((await items.next()).done).toBe(true)

    const thrown = lists()
    thrown.send(1, 2)
    await thrown.items.next()
    await expect(thrown.items.throw(new Error('odd'))).rejects.toThrow('odd')
    expect((await thrown.items.next()).done).toBe(true)

    const disposed = lists()
    {
      await using used = disposed.items
      disposed.send(1, 2)
      await used.next()
    }
    expect(disposed.state.isOver).toBe(true)
  })

  test('ends after earlier reads, and drops the rest of their list', async () => {
    const { items, send, state } = lists()
    const asked = [items.next(), items.next()]
    const ended = items.return()
    const late = items.next()
    send(1, 2, 3)

    expect((await Promise.all(asked)).map(({ value }) => value)).toEqual([1, 2])
    expect((await ended).done).toBe(true)
    expect(state.isOver).toBe(true)
    expect((await late).done).toBe(true)
    expect((await items.next()).done).toBe(true)
  })

  test('fails for one read only', async () => {
    async function* odd(): AsyncGenerator<readonly number[], void, undefined> {
      yield [1]
      throw new Error('odd')
    }
    const items = new OneByOne(odd(), () => false)
    const [first, second, third] = await Promise.allSettled([items.next(), items.next(), items.next()])
    expect(first).toMatchObject({ value: { value: 1 } })
    expect(second).toMatchObject({ reason: { message: 'odd' } })
    expect(third).toMatchObject({ value: { done: true } })
  })

  test('yields no more once it is over, even if items of the list are left', async () => {
    let isOver = false
    async function* made(): AsyncGenerator<readonly number[], void, undefined> {
      yield [1, 2, 3]
      throw new Error('it is over')
    }
    const items = new OneByOne(made(), () => isOver)
    expect(await items.next()).toEqual({ done: false, value: 1 })

    isOver = true

    await expect(items.next()).rejects.toThrow('it is over')
  })
})
