import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Driver, Listener } from '../../driver.ts'
import { SharedSubscription } from './shared-subscription.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

interface Setup {
  readonly subscription: SharedSubscription
  /** What its users were told, and `closed` when the driver was asked to end it. */
  readonly told: string[]
  readonly listener: Listener
  confirm(): Promise<void>
  refuse(): Promise<void>
}

function setup(): Setup {
  const told: string[] = []
  let listener: Listener = { onMessage: () => undefined, onGap: () => undefined }
  let [confirm, refuse]: [() => void, (error: Error) => void] = [() => undefined, () => undefined]
  const subscribe: Driver['subscribe'] = (_, one) => {
    listener = one
    return new Promise((resolve, reject) => {
      confirm = () => resolve({ close: async () => void told.push('closed') })
      refuse = reject
    })
  }
  const subscription = new SharedSubscription({ subscribe }, 'channel', {
    onMessage: (message) => told.push(message),
    onLost: () => told.push('lost'),
    onGone: () => told.push('gone'),
    onGap: () => told.push('gap'),
    onOver: (wasReady) => told.push(`over, ${wasReady ? 'was ready' : 'never ready'}`),
  })
  const settled = async (settle: () => void): Promise<void> => {
    settle()
    await vi.advanceTimersByTimeAsync(0)
  }
  return {
    subscription,
    told,
    listener,
    confirm: () => settled(confirm),
    refuse: () => settled(() => refuse(new Error('not allowed'))),
  }
}

async function ready(): Promise<Setup> {
  const all = setup()
  all.subscription.enter()
  await all.confirm()
  return all
}

describe('opening', () => {
  test('it is not heard before the server has confirmed', async () => {
    const { subscription, confirm } = setup()
    expect([subscription.isReady, subscription.isHeard]).toEqual([false, false])

    await confirm()

    expect([subscription.isReady, subscription.isHeard, subscription.isGone]).toEqual([true, true, false])
  })

  test('one that is refused is over', async () => {
    const { subscription, told, refuse } = setup()
    const opened = expect(subscription.opened).rejects.toThrow('not allowed')

    await refuse()

    await opened
    expect(told).toEqual(['over, never ready'])
  })

  test('one that ends before it is confirmed is closed when it is, and was never ready', async () => {
    const { subscription, told, confirm } = setup()

    subscription.end()
    await confirm()

    expect(told).toEqual(['over, never ready', 'closed'])
    expect(subscription.isReady).toBe(false)
  })
})

describe('its last user', () => {
  test('leaves it open for five seconds', async () => {
    const { subscription, told } = await ready()

    subscription.leave()
    await vi.advanceTimersByTimeAsync(4999)
    expect(told).toEqual([])
    await vi.advanceTimersByTimeAsync(1)

    expect(told).toEqual(['over, was ready', 'closed'])
  })

  test('is not the last where another one enters meanwhile, or was there', async () => {
    const { subscription, told } = await ready()
    subscription.enter()

    subscription.leave()
    await vi.advanceTimersByTimeAsync(20_000)
    subscription.leave()
    await vi.advanceTimersByTimeAsync(3000)
    subscription.enter()
    await vi.advanceTimersByTimeAsync(20_000)

    expect(told).toEqual([])
  })

  test('leaves it open for five seconds again where it has come back', async () => {
    const { subscription, told } = await ready()

    subscription.leave()
    await vi.advanceTimersByTimeAsync(3000)
    subscription.enter()
    subscription.leave()
    await vi.advanceTimersByTimeAsync(4999)
    expect(told).toEqual([])
    await vi.advanceTimersByTimeAsync(1)

    expect(told).toEqual(['over, was ready', 'closed'])
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('a connection that breaks', () => {
  test('is told of at once, and when it is there again', async () => {
    const { subscription, told, listener } = await ready()

    listener.onLost?.()
    expect([subscription.isHeard, subscription.isGone]).toEqual([false, false])
    listener.onGap()

    expect(subscription.isHeard).toBe(true)
    await vi.advanceTimersByTimeAsync(5000)
    expect(told).toEqual(['lost', 'gap'])
  })

  test('for longer is gone, until it is there again', async () => {
    const { subscription, told, listener } = await ready()

    listener.onLost?.()
    await vi.advanceTimersByTimeAsync(1000)
    expect([subscription.isGone, told]).toEqual([true, ['lost', 'gone']])
    listener.onGap()

    expect([subscription.isHeard, subscription.isGone]).toEqual([true, false])
  })

  test('after its last user has left is left alone all the same', async () => {
    const { subscription, told, listener } = await ready()

    subscription.leave()
    listener.onLost?.()
    await vi.advanceTimersByTimeAsync(10_000)

    expect(told).toEqual(['lost', 'gone', 'over, was ready', 'closed'])
  })
})

describe('one that is over', () => {
  test('ends once', async () => {
    const { subscription, told } = await ready()

    subscription.end()
    subscription.end()
    subscription.leave()
    await vi.advanceTimersByTimeAsync(10_000)

    expect(told).toEqual(['over, was ready', 'closed'])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('tells of no loss and of no gap, and leaves no timer', async () => {
    const { subscription, told, listener } = await ready()
    listener.onLost?.()

    subscription.end()
    listener.onLost?.()
    listener.onGap()
    await vi.advanceTimersByTimeAsync(10_000)

    expect(told).toEqual(['lost', 'over, was ready', 'closed'])
    expect([subscription.isHeard, vi.getTimerCount()]).toEqual([false, 0])
  })

  test('keeps to itself that it cannot be ended', async () => {
    const { subscription, told, refuse } = setup()
    subscription.opened.catch(() => undefined)

    subscription.end()
    await refuse()

    // Vitest fails the run for a rejection that nobody handles.
    expect(told).toEqual(['over, never ready'])
  })
})
