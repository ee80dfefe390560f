import { expect, test } from 'vitest'
import type { Driver, Listener } from '../../driver.ts'
import { Wakes } from './wake.ts'

function setup(): { wakes: Wakes; listeners: Listener[]; closed: () => number } {
  const listeners: Listener[] = []
  let closed = 0
  const subscribe: Driver['subscribe'] = async (_, listener) => {
    listeners.push(listener)
    return { close: async () => void (closed += 1) }
  }
  return { wakes: new Wakes({ subscribe }), listeners, closed: () => closed }
}

const LONG = 60_000

test('a message wakes all sleepers on its channel', async () => {
  const { wakes, listeners } = setup()
  const watches = [await wakes.watch('a'), await wakes.watch('a')]

  const sleeping = watches.map((watch) => watch.sleep(LONG))
  listeners[0]?.onMessage('appended')

  await Promise.all(sleeping)
  expect(listeners).toHaveLength(1)
})

test('a wake-up without a sleeper is not lost', async () => {
  const { wakes, listeners } = setup()
  const watch = await wakes.watch('a')

  listeners[0]?.onMessage('appended')

  await watch.sleep(LONG)
})

test('a lost connection wakes all sleepers, because a wake-up may have been missed', async () => {
  const { wakes, listeners } = setup()
  const watch = await wakes.watch('a')

  const sleeping = watch.sleep(LONG)
  listeners[0]?.onGap()

  await sleeping
})

test('an abort ends the sleep with its reason', async () => {
  const { wakes } = setup()
  const watch = await wakes.watch('a')
  const stop = new AbortController()

  const sleeping = watch.sleep(LONG, stop.signal)
  stop.abort(new Error('enough'))

  await expect(sleeping).rejects.toThrow('enough')
})

test('closing wakes all sleepers and ends the subscription', async () => {
  const { wakes, closed } = setup()
  const watch = await wakes.watch('a')

  const sleeping = watch.sleep(LONG)
  wakes.close()

  await sleeping
  expect(closed()).toBe(1)
})

test('the next waiter retries a failed subscription', async () => {
  let attempts = 0
  const subscribe: Driver['subscribe'] = async () => {
    attempts += 1
    if (attempts === 1) throw new Error('no connection')
    return { close: async () => undefined }
  }
  const wakes = new Wakes({ subscribe })

  await expect(wakes.watch('a')).rejects.toThrow('no connection')
  await wakes.watch('a')

  expect(attempts).toBe(2)
})

test('a watch of several channels is woken by any of them, and leaves all of them', async () => {
  const { wakes, listeners } = setup()
  const watch = await wakes.watch(['a', 'b', 'c'])

  for (const listener of listeners) {
    const sleeping = watch.sleep(LONG)
    listener.onMessage('appended')
    await sleeping
  }
  watch.close()

  expect(listeners).toHaveLength(3)
})
