import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ClientBacklog } from './backlog.ts'
import { PendingRuns } from './pending-runs.ts'

const MIB = 1024 * 1024

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate'] }))
afterEach(() => void vi.useRealTimers())

function setup(): {
  pending: PendingRuns
  backlog: ClientBacklog<object>
  call: (key: string, bytes?: number) => void
} {
  const pending = new PendingRuns({}, String as never, () => undefined)
  const backlog = new ClientBacklog(pending, { placeOf: ({ key }) => (key === 'anywhere' ? undefined : key) })
  const call = (key: string, bytes = 10): void => {
    const never = new Promise(() => undefined)
    pending.follow(never, { key, bytes, written: true }).catch(() => undefined)
  }
  return { pending, backlog, call }
}

test('a connection with a large, old backlog sends no more calls until the backlog has shrunk', async () => {
  const { pending, backlog, call } = setup()
  for (let n = 0; n < 10_000; n += 1) call('silent')
  call('slow')

  await vi.advanceTimersByTimeAsync(4000)
  expect(backlog.isFull('silent')).toBe(false)
  await vi.advanceTimersByTimeAsync(2000)
  expect([backlog.isFull('silent'), backlog.isFull('slow')]).toEqual([true, false])

  pending.giveUp('answered', ({ key }) => key === 'silent')
  await vi.advanceTimersByTimeAsync(1000)
  expect(backlog.isFull('silent')).toBe(false)
})

test('a backlog of few calls with many bytes is limited too', async () => {
  const { pending, backlog, call } = setup()
  for (let n = 0; n < 64; n += 1) call('silent', MIB)

  await vi.advanceTimersByTimeAsync(6000)
  expect(backlog.isFull('silent')).toBe(true)

  pending.giveUp('answered', () => true)
  expect(backlog.isFull('silent')).toBe(false)
})

test('calls for an unknown place are not counted', async () => {
  const { backlog, call } = setup()
  for (let n = 0; n < 100; n += 1) call('anywhere', MIB)

  await vi.advanceTimersByTimeAsync(6000)
  expect(backlog.isFull('anywhere')).toBe(false)
})
