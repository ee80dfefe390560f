import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { DeadLetters } from './dead-letters.ts'

function setup() {
  const errors: unknown[] = []
  const letters = new DeadLetters((error) => errors.push(error))
  onTestFinished(() => letters.close(0))
  return { letters, errors }
}

/** A move that ends when the test ends it. */
function moves() {
  const ends: (() => void)[] = []
  const move = () => new Promise<void>((resolve) => ends.push(resolve))
  return { move, ends }
}

test('however many claims request it, one move runs and one follows', async () => {
  const { letters } = setup()
  const { move, ends } = moves()

  for (let claim = 0; claim < 1000; claim += 1) letters.move('q', move)
  expect(ends).toHaveLength(1)
  ends[0]?.()
  while (ends.length < 2) await turn()
  ends[1]?.()
  await letters.settled()

  expect(ends).toHaveLength(2)
})

test('another queue does not wait for it', () => {
  const { letters } = setup()
  const { move, ends } = moves()

  letters.move('q', move)
  letters.move('other', move)

  expect(ends).toHaveLength(2)
})

test('a move that fails is reported, and the one requested meanwhile follows', async () => {
  const { letters, errors } = setup()
  let count = 0
  const failing = async (): Promise<void> => {
    count += 1
    throw new Error(`move ${count}`)
  }

  letters.move('q', failing)
  letters.move('q', failing)
  await letters.settled()

  expect(errors).toEqual([new Error('move 1'), new Error('move 2')])
})

test('closing begins no more moves, and does not wait for one that takes too long', async () => {
  const { letters, errors } = setup()
  const { move, ends } = moves()
  letters.move('q', move)
  letters.move('q', move)

  await letters.close(1)
  letters.move('other', move)
  ends[0]?.()
  await letters.settled()

  expect(ends).toHaveLength(1)
  expect(errors).toEqual([])
})
