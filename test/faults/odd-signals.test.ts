// Values that are no signal: null is none, as for `fetch`, and anything else is rejected before anything is sent.

import { setTimeout as sleep } from 'node:timers/promises'
import { InvalidArgumentError } from 'perilune'
import { expect, test } from 'vitest'
import { instance } from '../instance.ts'
import { collectUncaught } from '../uncaught.ts'
import { type Ending } from './public-calls/call.ts'
import { calls, type PublicCall } from './public-calls/all.ts'

/** `stand` is for elections and sets of locks, which have checked by then. */
const ended = calls.filter(({ canBeEnded, name }) => canBeEnded && !name.includes('.stand'))
/** Timers that are due by then have run. */
const LONG_MS = 200

/** Of an iterator the first item. */
async function settled(give: () => unknown): Promise<unknown> {
  try {
    const given = give()
    const isIterator = typeof given === 'object' && given !== null && 'next' in given
    return await (isIterator ? (given as AsyncIterator<unknown>).next() : given)
  } catch (error) {
    return error
  }
}

function signalled(
  call: PublicCall,
  redis: Parameters<PublicCall['run']>[0],
  signal: unknown,
): Promise<unknown> {
  return settled(() => call.run(redis, { signal } as Ending))
}

test.each(ended)('$name accepts null as no signal', async (call) => {
  const { redis } = instance()
  const uncaught = collectUncaught()

  const both = Promise.all([signalled(call, redis, null), signalled(call, redis, null)])
  const outcomes = await Promise.race([both, sleep(LONG_MS, [])])
  await sleep(LONG_MS)

  expect(uncaught).toEqual([])
  for (const outcome of outcomes) {
    expect(outcome).not.toBeInstanceOf(TypeError)
    expect(outcome instanceof InvalidArgumentError ? outcome.argument : '').not.toBe('signal')
  }
})

const NO_SIGNALS = { controller: new AbortController(), object: {}, text: 'stop', false: false, zero: 0 }

test.each(
  ended.flatMap((call) => Object.entries(NO_SIGNALS).map(([what, value]) => ({ call, what, value }))),
)('$call.name rejects as a signal: $what', async ({ call, value }) => {
  const { redis, calls: sent } = instance()

  const outcome = await signalled(call, redis, value)

  expect(outcome).toBeInstanceOf(InvalidArgumentError)
  expect(outcome).toMatchObject({ argument: 'signal' })
  expect(sent).toEqual([])
})

test('a campaign and a worker accept null as no signal, and reject anything else', async () => {
  const { redis, name } = instance()
  const uncaught = collectUncaught()
  const none = { signal: null } as unknown as Ending
  const campaign = redis.election(name).campaign(() => sleep(10), none)
  const worker = redis.queue(name).work(() => undefined, none)
  await sleep(LONG_MS)
  await Promise.all([campaign.close(), worker.close()])

  const odd = { signal: {} } as unknown as Ending
  expect(() => redis.election(name).campaign(() => undefined, odd)).toThrow(InvalidArgumentError)
  expect(() => redis.queue(name).work(() => undefined, odd)).toThrow(InvalidArgumentError)

  expect(uncaught).toEqual([])
})
