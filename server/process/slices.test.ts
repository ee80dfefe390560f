import { expect, test } from 'vitest'
import { Slices } from './slices.ts'

test('work requested at once is done one after the other, in as many passes of the loop as its time takes', async () => {
  let [now, passes, atWork, most] = [0, 0, 0, 0]
  const slices = new Slices(() => now)
  const doneIn: number[] = []
  const nextPass = (): void => {
    passes += 1
    if (doneIn.length < 6) setImmediate(nextPass)
  }
  setImmediate(nextPass)

  const work = async (): Promise<void> => {
    most = Math.max(most, (atWork += 1))
    await Promise.resolve()
    // Two of these are a slice.
    now += 10
    doneIn.push(passes)
    atWork -= 1
  }
  await Promise.all(Array.from({ length: 6 }, () => slices.begin(work)))

  expect(most).toBe(1)
  expect(doneIn).toEqual([0, 0, 1, 1, 2, 2])
})

test('work that fails holds up no other work', async () => {
  const slices = new Slices()

  const failing = slices.begin(() => Promise.reject(new Error('odd')))
  const next = slices.begin(async () => 'done')

  await expect(failing).rejects.toThrow('odd')
  expect(await next).toBe('done')
})
