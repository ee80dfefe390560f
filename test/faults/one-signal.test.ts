// Many calls on one signal, as of a request or of a process that ends: Node warns of no leak, and none is left.

import { getEventListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { instance } from '../instance.ts'
import { calls, type PublicCall } from './public-calls/all.ts'

const COUNT = 20

function listenersOf(signal: AbortSignal): number {
  return getEventListeners(signal, 'abort').length
}

function warnings(): string[] {
  const heard: string[] = []
  const hear = ({ name, message }: Error): void => void heard.push(`${name}: ${message}`)
  process.on('warning', hear)
  onTestFinished(() => void process.off('warning', hear))
  return heard
}

/** Whatever comes of it; of an iterator the first item. */
async function settled(given: unknown): Promise<void> {
  const isIterator = typeof given === 'object' && given !== null && 'next' in given
  const iterator = given as AsyncIterator<unknown>
  await Promise.resolve(isIterator ? iterator.next() : given).catch(() => undefined)
}

const goesOn = ({ name, outcome }: PublicCall): boolean => outcome === 'goes on' || name.endsWith('.events')

test.each(calls.filter(({ canBeEnded }) => canBeEnded))(
  'many $name on one signal leave no listener',
  async (call) => {
    const { redis } = instance()
    const heard = warnings()
    const stop = new AbortController()
    const { signal } = stop

    const all = Array.from({ length: COUNT }, () => settled(call.run(redis, { signal })))
    const most = sleep(20).then(() => listenersOf(signal))
    if (goesOn(call)) await sleep(50)
    else await Promise.all(all)
    expect(await most).toBeLessThanOrEqual(1)
    if (goesOn(call)) stop.abort()
    await Promise.all(all)

    expect(listenersOf(signal)).toBe(0)
    expect(heard).toEqual([])
  },
)

test('closed campaigns and workers leave no listener', async () => {
  const { redis, name } = instance()
  const heard = warnings()
  const { signal } = new AbortController()
  const campaigns = Array.from({ length: COUNT }, () =>
    redis.election(name).campaign(() => undefined, { signal }),
  )
  const workers = Array.from({ length: COUNT }, () => redis.queue(name).work(() => undefined, { signal }))

  expect(listenersOf(signal)).toBeLessThanOrEqual(1)
  await Promise.all([...campaigns, ...workers].map((each) => each.close()))

  expect(listenersOf(signal)).toBe(0)
  expect(heard).toEqual([])
})
