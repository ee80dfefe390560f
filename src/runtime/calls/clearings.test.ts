import { expect, test } from 'vitest'
import { Clearings } from './clearings.ts'

test('everything held when the clear was sent is over once it is done, and later grants are not', async () => {
  const clearings = new Clearings()
  const before = performance.now()

  await clearings.run('a', async () => {
    expect(clearings.since('a', before)).toBe(false)
  })

  expect(clearings.since('a', before)).toBe(true)
  expect(clearings.since('a', performance.now())).toBe(false)
  expect(clearings.since('ab', before)).toBe(false)
})

test('after a failed clear nothing is over, and no watcher is called', async () => {
  const clearings = new Clearings()
  const before = performance.now()
  let looks = 0
  clearings.watch('a', () => (looks += 1))

  await expect(clearings.run('a', () => Promise.reject(new Error('refused')))).rejects.toThrow('refused')

  expect(clearings.since('a', before)).toBe(false)
  expect(looks).toBe(0)
})

test('a watcher is called each time, until it stops', async () => {
  const clearings = new Clearings()
  const looked: string[] = []
  const stop = clearings.watch('a', () => void looked.push('first'))
  clearings.watch('a', () => void looked.push('second'))
  clearings.watch('b', () => void looked.push('other'))

  await clearings.run('a', async () => undefined)
  stop()
  await clearings.run('a', async () => undefined)

  expect(looked).toEqual(['first', 'second', 'second'])
})

test('the oldest of many clears is forgotten', async () => {
  const clearings = new Clearings()
  const before = performance.now()
  for (let n = 0; n <= 1000; n++) await clearings.run(String(n), async () => undefined)

  expect(clearings.since('0', before)).toBe(false)
  expect(clearings.since('1', before)).toBe(true)
})
