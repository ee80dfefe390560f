// One attempt that was begun twice in one instance, with the same id.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Attempt, Once } from 'perilune'
import { expect, test } from 'vitest'
import { setup } from '../../test/once-fixture.ts'

const LEASE = { lease: '30s' } as const

async function beginTwice(once: Once<string>): Promise<[Attempt<string>, Attempt<string>]> {
  return [await begin(once), await begin(once)]
}

async function begin(once: Once<string>): Promise<Attempt<string>> {
  const begun = await once.begin('a', { id: 'request-7' })
  if (begun.status !== 'started') throw new Error(begun.status)
  return begun.attempt
}

const ENDS: readonly [string, (attempt: Attempt<string>, once: Once<string>) => Promise<unknown>][] = [
  ['the first caller releases it', (attempt) => attempt.release()],
  ['the first caller shortens it', (attempt) => attempt.extend('30ms')],
  ['it is released by its token', ({ token }, once) => once.byToken.release('a', token)],
  ['it is shortened by its token', ({ token }, once) => once.byToken.extend('a', token, '30ms')],
  ['its key is cleared', (_attempt, once) => once.clear('a')],
]

test.each(ENDS)('no caller believes in an attempt after %s', async (_name, end) => {
  const { once, redis, name } = await setup<string>({ clock: 'real', ...LEASE })
  const [first, second] = await beginTwice(once)

  await end(first, once)
  // The process stalls, so that no timer of its own ends the attempt.
  const until = performance.now() + 60
  while (performance.now() < until);

  expect([first.remainingMs, second.remainingMs]).toEqual([0, 0])
  expect((await redis.once(name, LEASE).begin('a')).status).toBe('started')
})

test('another handle of the instance gets the attempt, too', async () => {
  const { once, redis, name } = await setup<string>({ clock: 'real', ...LEASE })
  const first = await begin(once)
  const second = await begin(redis.once<string>(name, LEASE))

  await first.complete('done')

  expect(second.remainingMs).toBe(0)
})

test('what has ended is not handed out again', async () => {
  const { once } = await setup<string>({ clock: 'real', lease: '40ms', maxHold: '0s' })
  const first = await begin(once)
  await sleep(80)

  const second = await begin(once)

  expect(first.remainingMs).toBe(0)
  expect(second.remainingMs).toBeGreaterThan(0)
})
