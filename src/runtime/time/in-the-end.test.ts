import { DriverError, InvalidArgumentError } from 'perilune'
import { expect, test } from 'vitest'
import { inTheEnd } from './in-the-end.ts'

const away = new DriverError('unreachable', 'away')

test('failed work is retried until it succeeds', async () => {
  let tries = 0
  const work = async (): Promise<void> => {
    tries += 1
    if (tries < 3) throw away
  }

  await inTheEnd(work, away)

  expect(tries).toBe(3)
})

test('work that would always fail is not retried', async () => {
  let tries = 0
  const work = async (): Promise<void> => {
    tries += 1
    throw new DriverError('closed', 'closed')
  }

  await inTheEnd(work, away)
  await inTheEnd(work, new InvalidArgumentError('name', 'is odd'))

  expect(tries).toBe(1)
})

test('it ends with an error that means that it is over', async () => {
  let tries = 0
  const work = async (): Promise<void> => {
    tries += 1
    throw new Error(tries < 2 ? 'away' : 'over')
  }

  await inTheEnd(work, away, (failure) => (failure as Error).message === 'over')

  expect(tries).toBe(2)
})
