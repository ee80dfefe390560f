// The time at which a waiter asks again, on a clock that the test moves.

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Deadlines } from '../time/deadlines.ts'
import { type Letter, Mailbox, type Post } from '../subscriptions/mailbox.ts'
import type { Attempts, LineStanding } from './attempts.ts'
import { Waiter } from './waiter.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'Date', 'setTimeout', 'clearTimeout'] })
})

afterEach(() => {
  vi.useRealTimers()
})

/** When the waiter asks, in milliseconds since its start, if it gets these letters, each after so many milliseconds. */
async function asksOf(letters: readonly (readonly [afterMs: number, letter: string])[]): Promise<number[]> {
  const start = performance.now()
  const now = (): number => performance.now() - start
  const asks: number[] = []
  const attempts = {
    leaseMs: 30_000,
    passes: false,
    node: '',
    abandon: async () => undefined,
    attempt: async (): Promise<LineStanding> => {
      asks.push(Math.round(now()))
      return { status: 'queued', position: 4, recheckMs: 0, nowMs: 1_000_000 + now() }
    },
  } satisfies Attempts
  const due = [...letters]
  const next = async (ms: number): Promise<Letter | null> => {
    const [at = Infinity, text = ''] = due[0] ?? []
    vi.setSystemTime(Date.now() + Math.min(ms, at - now()))
    vi.advanceTimersByTime(Math.min(ms, at - now()))
    if (now() < at) return null
    due.shift()
    const [word = '', ...numbers] = text.split(' ')
    return { word, numbers: numbers.map(Number), text: '', receivedAt: performance.now() }
  }
  const post = { isHeard: true, isGone: false, next } as unknown as Post
  const waiter = new Waiter(attempts, 'id', {
    mayBeCleared: () => false,
    mailbox: new Mailbox({} as never),
    opening: { now: post, close: () => undefined },
    endsAt: performance.now() + 4000,
    signal: undefined,
    deadlines: new Deadlines(),
    line: 'a',
  })
  expect(await waiter.wait()).toBe(null)
  return asks
}

test('a waiter asks one second after its first request, and then less often the further back it stands', async () => {
  expect(await asksOf([])).toEqual([0, 1000, 3008])
})

test('a waiter asks by the time that a letter has named, even if it has asked since', async () => {
  const asks = await asksOf([[600, 'first 1000']])

  expect(asks.filter((at) => at > 1000 && at <= 1650)).toHaveLength(1)
})
