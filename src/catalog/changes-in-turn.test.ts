import { expect, test } from 'vitest'
import { ChangesInTurn } from './changes-in-turn.ts'

function held() {
  const ends: (() => void)[] = []
  let began = 0
  const change = async (): Promise<number> => {
    began += 1
    const at = began
    await new Promise<void>((resolve) => ends.push(resolve))
    return at
  }
  return { change, ends, began: () => began }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('changes of one document begin one after the other, those of another at once', async () => {
  const line = new ChangesInTurn()
  const { change, ends, began } = held()
  const all = [line.run('a', change), line.run('a', change), line.run('b', change)]
  await settled()
  expect(began()).toBe(2)

  ends[0]?.()
  await settled()
  expect(began()).toBe(3)
  for (const end of ends) end()
  expect(await Promise.all(all)).toEqual([1, 3, 2])
})

test('a failed change does not block later ones', async () => {
  const line = new ChangesInTurn()
  const failing = line.run('a', () => Promise.reject(new Error('refused')))
  const next = line.run('a', async () => 'done')

  await expect(failing).rejects.toThrow('refused')
  expect(await next).toBe('done')
})
