// One attempt that was begun twice in one instance, with the same id.

import { type Attempt, LeaseLostError, type Once } from 'perilune'
import { expect, test } from 'vitest'
import { setup } from '../../test/once-fixture.ts'
import { scene } from '../../test/lease-fixture.ts'

const LEASE = { lease: '30s' } as const

async function begin(once: Once<string>): Promise<Attempt<string>> {
  const begun = await once.begin('a', { id: 'request-7' })
  if (begun.status !== 'started') throw new Error(begun.status)
  return begun.attempt
}

type End = (attempt: Attempt<string>, once: Once<string>) => Promise<unknown>

const ENDS: readonly [string, End][] = [
  ['the first caller releases it', (attempt) => attempt.release()],
  ['the block of the first caller ends', (attempt) => attempt[Symbol.asyncDispose]()],
  ['the first caller completes it', (attempt) => attempt.complete('done')],
  ['it is released by its token', ({ token }, once) => once.byToken.release('a', token)],
  ['its key is cleared', (_attempt, once) => once.clear('a')],
]

test.each(ENDS)('both callers learn at once that %s', async (_name, end) => {
  const { once } = await setup<string>({ clock: 'real', ...LEASE })
  const [first, second] = [await begin(once), await begin(once)]
  const { signal } = second

  await end(first, once)

  expect([first.remainingMs, second.remainingMs]).toEqual([0, 0])
  expect(signal.reason).toBeInstanceOf(LeaseLostError)
  expect(() => second.assertHeld()).toThrow(LeaseLostError)
})

const SHORTENS: readonly [string, End][] = [
  ['the first caller shortens it', (attempt) => attempt.extend('30ms')],
  ['it is shortened by its token', ({ token }, once) => once.byToken.extend('a', token, '30ms')],
]

test.each(SHORTENS)('no caller believes in it beside another attempt after %s', async (_name, shorten) => {
  const { once, redis, name } = await setup<string>({ clock: 'real', ...LEASE })
  const [first, second] = [await begin(once), await begin(once)]

  await shorten(first, once)
  // The process stalls, so that no timer of its own ends the attempt.
  const until = performance.now() + 60
  while (performance.now() < until);
  const believed = first.remainingMs + second.remainingMs
  const other = await redis.once(name, LEASE).begin('a')

  expect(believed).toBe(0)
  const both = other.status === 'started' && first.remainingMs + second.remainingMs > 0
  expect(both).toBe(false)
})

test('each object has the options of its handle', async () => {
  const { once, redis, name } = await setup<string>({ clock: 'real', ...LEASE, resultTtl: '1m' })
  await begin(once)
  const second = await begin(redis.once<string>(name, { ...LEASE, resultTtl: '7d' }))

  const { keptUntilMs } = await second.complete('done')

  expect(keptUntilMs - Date.now()).toBeGreaterThan(3_600_000)
})

test('the end of a block that could not release it does not release it under the next caller', async () => {
  const { redis, admin } = await scene()
  const once = redis.once<string>('calls', LEASE)
  const first = await begin(once)
  await admin.config('SET', 'min-replicas-to-write', 1)
  await expect(first[Symbol.asyncDispose]()).rejects.toMatchObject({ name: expect.stringMatching(/Error$/) })
  await admin.config('SET', 'min-replicas-to-write', 0)

  const second = await begin(once)
  await new Promise((resolve) => setTimeout(resolve, 1500))

  second.assertHeld()
  expect((await redis.once<string>('calls', LEASE).begin('a')).status).toBe('running')
})
