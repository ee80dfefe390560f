import { expect, test } from 'vitest'
import { collectUncaught } from '../../../test/uncaught.ts'
import { notifying } from './notify.ts'

test('an exception of a callback does not reach its caller, and becomes an uncaught exception', async () => {
  const uncaught = collectUncaught()
  const calls: unknown[] = []
  const notify = notifying('onError', (...args: [string, number]) => {
    calls.push(args)
    throw new Error('of the user')
  })

  notify('first', 1)
  notify('second', 2)
  await new Promise((resolve) => setImmediate(resolve))

  expect(calls).toEqual([
    ['first', 1],
    ['second', 2],
  ])
  expect(uncaught).toEqual([
    expect.objectContaining({ message: 'of the user' }),
    expect.objectContaining({ message: 'of the user' }),
  ])
})
