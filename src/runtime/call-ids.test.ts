import { expect, test } from 'vitest'
import { CallIds } from './call-ids.ts'

test('calls under way at once have slots of their own; a settled call frees its slot', () => {
  const ids = new CallIds()
  const [a, b] = [ids.take('feed'), ids.take('feed')]
  ids.giveBack('feed', a)
  const c = ids.take('feed')

  expect([a.slot, b.slot, c.slot]).toEqual([0, 1, 0])
  expect(c.caller).toBe(a.caller)
})

test('no number is used twice, on whatever unit', () => {
  const ids = new CallIds()

  const calls = ['a', 'b', 'a', 'c'].map((unit) => ids.take(unit).call)

  expect(new Set(calls).size).toBe(4)
})

test('processes have callers of their own', () => {
  expect(new CallIds().take('a').caller).not.toBe(new CallIds().take('a').caller)
})
