import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ConnectionLostError, ServerReplyError } from '../../driver.ts'
import { isRefusal, PrimarySearch } from './primary-search.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

const isSign = (error: Error): boolean => isRefusal(error, 'READONLY', 'NOREPLICAS')

test.each([
  ['READONLY', [0, 0.5, 1.5, 3.5, 5.5, 7.5, 9.5]],
  ['NOREPLICAS', [0, 0.5, 1.5, 3.5, 7.5, 15.5, 31.5]],
])(
  'while a server rejects writes with %s, its client looks for a primary at growing intervals, and at once after the next failover',
  (word, first) => {
    const rejected = new ServerReplyError(`${word} no`)
    const looks: number[] = []
    const search = new PrimarySearch(isSign, () => void looks.push(Math.round(performance.now()) / 1000))
    const began = performance.now() / 1000
    const refuseFor = (ms: number): void => {
      for (let passed = 0; passed < ms; passed += 100) {
        search.note(rejected)
        vi.advanceTimersByTime(100)
      }
    }

    refuseFor(100_000)
    vi.advanceTimersByTime(3000)
    refuseFor(1000)

    const after = looks.map((at) => Math.round((at - began) * 10) / 10)
    expect(after.slice(0, first.length)).toEqual(first)
    expect(after.slice(-2)).toEqual([103, 103.5])
  },
)

test('other replies and lost connections start no search for a primary', () => {
  const look = vi.fn()
  const search = new PrimarySearch(isSign, look)

  search.note(new ServerReplyError('BUSY no'))
  search.note(new ConnectionLostError('READONLY', true))

  expect(look).not.toHaveBeenCalled()
})

test('a server that lacked replicas for long and then is a replica itself is left soon', () => {
  const looks: number[] = []
  const search = new PrimarySearch(isSign, () => void looks.push(performance.now()))
  for (let passed = 0; passed < 60_000; passed += 100) {
    search.note(new ServerReplyError('NOREPLICAS no'))
    vi.advanceTimersByTime(100)
  }
  const before = looks.length

  for (let passed = 0; passed <= 2000; passed += 100) {
    search.note(new ServerReplyError('READONLY no'))
    vi.advanceTimersByTime(100)
  }

  expect(looks.length).toBeGreaterThan(before)
})
