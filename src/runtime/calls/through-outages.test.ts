import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Driver } from '../../driver.ts'
import { AmbiguousError, DriverError, InvalidArgumentError } from '../errors/errors.ts'
import { Runner } from './runner.ts'
import { throughOutages } from './through-outages.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

const away = new DriverError('unreachable', 'no server')

function setup(): Runner {
  return new Runner({} as Driver, 5000)
}

/** Fails this many times, with these errors in turn. */
function failing(
  times: number,
  errors: readonly Error[],
): { work: () => Promise<string>; tries: () => number } {
  let tries = 0
  const work = async (): Promise<string> => {
    tries += 1
    if (tries > times) return 'done'
    throw errors[tries % errors.length] ?? away
  }
  return { work, tries: () => tries }
}

test('work that fails in an outage is retried until it succeeds', async () => {
  const { work, tries } = failing(20, [away, new DriverError('busy', 'loading'), new AmbiguousError('read')])
  const working = throughOutages(work, setup())

  await vi.advanceTimersByTimeAsync(600_000)

  expect(await working).toBe('done')
  expect(tries()).toBe(21)
})

test('during an outage of an hour it is tried about once a second at most', async () => {
  const { work, tries } = failing(Infinity, [away])
  const runner = setup()
  const working = throughOutages(work, runner)
  working.catch(() => undefined)

  await vi.advanceTimersByTimeAsync(3_600_000)

  expect(tries()).toBeGreaterThan(600)
  expect(tries()).toBeLessThan(3600)
  runner.close()
  await expect(working).rejects.toMatchObject({ code: 'closed' })
})

test.each([
  ['a missing right', new DriverError('forbidden', 'no')],
  ['an unknown layout', new DriverError('unknown-layout', 'newer')],
  ['another codec', new InvalidArgumentError('codec', 'must be the one')],
])('%s ends it', async (_, error) => {
  await expect(throughOutages(() => Promise.reject(error), setup())).rejects.toBe(error)
})

test('a signal ends it: before the work, during it and in a pause', async () => {
  const reason = new Error('stopped')
  const { work, tries } = failing(Infinity, [away])

  await expect(throughOutages(work, setup(), AbortSignal.abort(reason))).rejects.toBe(reason)
  expect(tries()).toBe(0)
  for (const each of [() => new Promise<never>(() => undefined), work]) {
    const stop = new AbortController()
    const working = throughOutages(each, setup(), stop.signal)
    const failed = expect(working).rejects.toBe(reason)
    await vi.advanceTimersByTimeAsync(0)
    stop.abort(reason)
    await failed
  }
})
