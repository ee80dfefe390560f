import { expect, test } from 'vitest'
import { collectUncaught } from '../../../test/uncaught.ts'
import { notifying } from './notify.ts'

test('what a callback throws does not reach its caller, and is an uncaught exception', async () => {
  const uncaught = collectUncaught()
  const told: unknown[] = []
  const notify = notifying('onError', (...args: [string, number]) => {
    told.push(args)
    throw new Error('of the user')
  })

  notify('first', 1)
  notify('second', 2)
  await new Promise((resolve) => setImmediate(resolve))

  expect(told).toEqual([
    ['first', 1],
    ['second', 2],
  ])
  expect(uncaught).toEqual([
    expect.objectContaining({ message: 'of the user' }),
    expect.objectContaining({ message: 'of the user' }),
  ])
})
