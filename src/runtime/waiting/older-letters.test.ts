// A letter that was written before the server answered without a grant.

import { expect, onTestFinished, test } from 'vitest'
import { Deadlines } from '../time/deadlines.ts'
import type { Letter, Post } from '../subscriptions/mailbox.ts'
import { Mailbox } from '../subscriptions/mailbox.ts'
import type { Attempts, LineStanding } from './attempts.ts'
import { Waiter } from './waiter.ts'

const LEASE_MS = 30_000

/** A waiter that gets `queued` at the server time `askedMs`, then gets this letter, and asks again. */
async function granted(askedMs: number, letterMs: number): Promise<{ token: number; asks: number }> {
  const deadlines = new Deadlines()
  const mailbox = new Mailbox({} as never)
  onTestFinished(() => deadlines.giveUpAll(new Error('over')))
  let asks = 0
  const attempts = {
    leaseMs: LEASE_MS,
    passes: false,
    node: '',
    abandon: async () => undefined,
    attempt: async (): Promise<LineStanding> => {
      asks += 1
      if (asks === 1) return { status: 'queued', position: 0, recheckMs: 10_000, nowMs: askedMs }
      return { status: 'granted', token: 2, expiresAtMs: askedMs + LEASE_MS, nowMs: askedMs + 1 }
    },
  } satisfies Attempts
  const letter = {
    word: 'granted',
    numbers: [1, letterMs + LEASE_MS, letterMs],
    receivedAt: performance.now(),
  } as unknown as Letter
  const post = { isHeard: true, isGone: false, next: async () => letter } as unknown as Post
  const opening = { now: post, close: () => undefined }
  const endsAt = performance.now() + 5000
  const waiter = new Waiter(attempts, 'id', {
    mayBeCleared: () => false,
    mailbox,
    opening,
    endsAt,
    signal: undefined,
    deadlines,
    line: 'a',
  })
  const grant = await waiter.wait()
  return { token: grant?.token ?? 0, asks }
}

test('a letter older than the last answer is ignored: the server is asked', async () => {
  expect(await granted(1_000_000, 999_900)).toEqual({ token: 2, asks: 2 })
})

test('a letter of the same millisecond is ignored too', async () => {
  expect(await granted(1_000_000, 1_000_000)).toEqual({ token: 2, asks: 2 })
})

test('a later letter is accepted', async () => {
  expect(await granted(1_000_000, 1_000_001)).toEqual({ token: 1, asks: 1 })
})
