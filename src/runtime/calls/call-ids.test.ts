import { expect, test } from 'vitest'
import { CallIds } from './call-ids.ts'

test('concurrent calls have different slots, and a settled call frees its slot', () => {
  const ids = new CallIds()
  const [a, b] = [ids.takeSlot('feed'), ids.takeSlot('feed')]
  ids.giveBack('feed', a)

  expect([a, b, ids.takeSlot('feed'), ids.takeSlot('feed')]).toEqual([0, 1, 0, 2])
})

test('each unit has its own slots', () => {
  const ids = new CallIds()

  expect([ids.takeSlot('a'), ids.takeSlot('b')]).toEqual([0, 0])
})

test('numbers increase and are never used twice, in any slot', () => {
  const ids = new CallIds()

  const calls = [0, 1, 0, 2].map((slot) => Number(ids.next(slot).call))

  expect(calls).toEqual(calls.toSorted((a, b) => a - b))
  expect(new Set(calls).size).toBe(4)
})

test('a slot is one caller, and processes have different callers', () => {
  const ids = new CallIds()

  expect(ids.next(3).caller).toBe(ids.next(3).caller)
  expect(ids.next(3).caller).not.toBe(ids.next(4).caller)
  expect(ids.next(3).caller).not.toBe(new CallIds().next(3).caller)
})
