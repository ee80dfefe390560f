import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Process, setup } from '../../test/cache-fixture.ts'
import { ConnectionLostError } from '../driver.ts'
import { KNOWN_FOR_MS } from './tags.ts'

/** From now on reads of the cache's generation are not answered. */
function hideGeneration({ runtime }: Process<string>): void {
  const { driver } = runtime.runner
  const read = driver.read.bind(driver)
  driver.read = (calls) =>
    calls.map(async (call) => {
      const isAsked = call.args.some((key) => String(key).endsWith(':generation'))
      if (isAsked) throw new ConnectionLostError('gone', false)
      return (await read([call])[0]) ?? null
    })
}

test('while the generation cannot be read, the known one stays in use', async () => {
  const made = await setup<string>({ storeWithin: '200ms' })
  await made.cache.get('a', () => 'kept')
  hideGeneration(made)

  const until = performance.now() + KNOWN_FOR_MS * 2
  while (performance.now() < until) expect(await made.cache.get('a', () => 'again')).toBe('kept')
})

test('a process that never knew the generation serves nothing without it', async () => {
  const made = await setup<string>({ storeWithin: '200ms' })
  await made.another().cache.set('a', 'before')
  hideGeneration(made)

  expect(await made.cache.get('a', () => 'loaded')).toBe('loaded')
})

test('a process without an answer that was idle serves no value from before a clear', async () => {
  const made = await setup<string>({ storeWithin: '200ms', clock: 'real', ttl: '1h' })
  const other = made.another()
  await made.cache.get('a', () => 'kept')
  const { driver } = made.runtime.runner
  const { read } = driver
  await sleep(KNOWN_FOR_MS + 100)
  hideGeneration(made)
  expect(await made.cache.get('a', () => 'again')).toBe('kept')
  // Its background read is not answered, either.
  await sleep(KNOWN_FOR_MS / 2)
  driver.read = read
  await sleep(KNOWN_FOR_MS)

  await other.cache.clear()
  expect(await made.cache.get('a', () => 'new')).toBe('new')
})
