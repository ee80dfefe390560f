import { expect, test } from 'vitest'
import { Clearings } from './clearings.ts'

test('what was had when the clear was sent is over once it is done, and nothing that came after that', async () => {
  const clearings = new Clearings()
  const before = performance.now()

  await clearings.run('a', async () => {
    expect(clearings.since('a', before)).toBe(false)
  })

  expect(clearings.since('a', before)).toBe(true)
  expect(clearings.since('a', performance.now())).toBe(false)
  expect(clearings.since('ab', before)).toBe(false)
})

test('what could not be cleared is not over, and nobody looks', async () => {
  const clearings = new Clearings()
  const before = performance.now()
  let looks = 0
  clearings.watch('a', () => (looks += 1))

  await expect(clearings.run('a', () => Promise.reject(new Error('refused')))).rejects.toThrow('refused')

  expect(clearings.since('a', before)).toBe(false)
  expect(looks).toBe(0)
})

test('who watches looks each time, until it stops', async () => {
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

test('the oldest of very many is forgotten', async () => {
  const clearings = new Clearings()
  const before = performance.now()
  for (let n = 0; n <= 1000; n++) await clearings.run(String(n), async () => undefined)

  expect(clearings.since('0', before)).toBe(false)
  expect(clearings.since('1', before)).toBe(true)
})
