import { expect, test } from 'vitest'
import { AmbiguousError, DriverError } from '../errors/errors.ts'
import { Clearings } from './clearings.ts'

test('everything held when the clear was sent is over once it is done, and later grants are not', async () => {
  const clearings = new Clearings()
  const before = performance.now()

  await clearings.run(['a'], async () => {
    expect(clearings.since('a', before)).toBe(false)
  })

  expect(clearings.since('a', before)).toBe(true)
  expect(clearings.since('a', performance.now())).toBe(false)
  expect(clearings.since('ab', before)).toBe(false)
})

test('after a refused clear nothing is over, and no watcher is called', async () => {
  const clearings = new Clearings()
  const before = performance.now()
  const refused = new DriverError('forbidden', 'no right')
  let looks = 0
  clearings.watch('a', () => (looks += 1))

  await expect(clearings.run(['a'], () => Promise.reject(refused))).rejects.toBe(refused)

  expect(clearings.since('a', before)).toBe(false)
  expect(clearings.mayBeSince('a', before)).toBe(false)
  expect(looks).toBe(0)
})

test('a clear without an answer leaves everything until then in doubt, and ends no more than the one before it', async () => {
  const clearings = new Clearings()
  const before = performance.now()
  await clearings.run(['a'], async () => undefined)
  const between = performance.now()
  const unanswered = new AmbiguousError('clear')
  let looks = 0
  clearings.watch('a', () => (looks += 1))

  await expect(clearings.run(['a'], () => Promise.reject(unanswered))).rejects.toBe(unanswered)

  expect([before, between].map((at) => clearings.since('a', at))).toEqual([true, false])
  expect([before, between].map((at) => clearings.mayBeSince('a', at))).toEqual([false, true])
  expect(clearings.mayBeSince('a', performance.now() + 1)).toBe(false)
  expect(looks).toBe(1)
})

test('what is requested while a clear is under way is in doubt only if the clear was sent again', async () => {
  const clearings = new Clearings()
  const during: number[] = []

  await clearings.run(['a'], async () => void during.push(performance.now() + 1))
  await clearings.run(['b'], async (trace) => {
    trace.sentAgain = true
    during.push(performance.now() + 1)
    await new Promise((resolve) => setTimeout(resolve, 5))
  })

  expect(clearings.mayBeSince('a', during[0] as number)).toBe(false)
  expect(clearings.mayBeSince('b', during[1] as number)).toBe(true)
})

test('on a cluster it is always in doubt: the client itself may have sent the clear again', async () => {
  const clearings = new Clearings(() => true)
  let during = 0

  await clearings.run(['a'], async () => {
    during = performance.now() + 1
    await new Promise((resolve) => setTimeout(resolve, 5))
  })

  expect(clearings.mayBeSince('a', during)).toBe(true)
  expect(clearings.concerns('a', performance.now() + 1)).toBe(false)
})

test('a unit is recent while it is cleared, and a moment after', async () => {
  const clearings = new Clearings()
  const recent: boolean[] = [clearings.isRecent('a', 1000)]

  await clearings.run(['a'], async () => void recent.push(clearings.isRecent('a', 1000)))
  recent.push(clearings.isRecent('a', 1000), clearings.isRecent('a', 0))

  expect(recent).toEqual([false, true, true, false])
})

test('a watcher is called each time, until it stops', async () => {
  const clearings = new Clearings()
  const looked: string[] = []
  const stop = clearings.watch('a', () => void looked.push('first'))
  clearings.watch('a', () => void looked.push('second'))
  clearings.watch('b', () => void looked.push('other'))

  await clearings.run(['a'], async () => undefined)
  stop()
  await clearings.run(['a'], async () => undefined)

  expect(looked).toEqual(['first', 'second', 'second'])
})

test('the oldest of many clears is forgotten', async () => {
  const clearings = new Clearings()
  const before = performance.now()
  for (let n = 0; n <= 1000; n++) await clearings.run([String(n)], async () => undefined)

  expect(clearings.since('0', before)).toBe(false)
  expect(clearings.since('1', before)).toBe(true)
})
