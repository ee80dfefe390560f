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
  /** Notifications of its users, and `closed` when the driver was asked to end it. */
  readonly events: string[]
  readonly listener: Listener
  confirm(): Promise<void>
  refuse(): Promise<void>
}

function setup(): Setup {
  const events: string[] = []
  let listener: Listener = { onMessage: () => undefined, onGap: () => undefined }
  let [confirm, refuse]: [() => void, (error: Error) => void] = [() => undefined, () => undefined]
  const subscribe: Driver['subscribe'] = (_, one) => {
    listener = one
    return new Promise((resolve, reject) => {
      confirm = () => resolve({ close: async () => void events.push('closed') })
      refuse = reject
    })
  }
  const subscription = new SharedSubscription({ subscribe }, 'channel', {
    onMessage: (message) => events.push(message),
    onLost: () => events.push('lost'),
    onGone: () => events.push('gone'),
    onGap: () => events.push('gap'),
    onOver: (wasReady) => events.push(`over, ${wasReady ? 'was ready' : 'never ready'}`),
  })
  const settled = async (settle: () => void): Promise<void> => {
    settle()
    await vi.advanceTimersByTimeAsync(0)
  }
  return {
    subscription,
    events,
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
  test('it is not ready before the server has confirmed', async () => {
    const { subscription, confirm } = setup()
    expect([subscription.isReady, subscription.isHeard]).toEqual([false, false])

    await confirm()

    expect([subscription.isReady, subscription.isHeard, subscription.isGone]).toEqual([true, true, false])
  })

  test('a rejected subscription is over', async () => {
    const { subscription, events, refuse } = setup()
    const opened = expect(subscription.opened).rejects.toThrow('not allowed')

    await refuse()

    await opened
    expect(events).toEqual(['over, never ready'])
  })

  test('a subscription that ends before it is confirmed is closed when it is, and was never ready', async () => {
    const { subscription, events, confirm } = setup()

    subscription.end()
    await confirm()

    expect(events).toEqual(['over, never ready', 'closed'])
    expect(subscription.isReady).toBe(false)
  })
})

describe('its last user', () => {
  test('leaves it open for five seconds', async () => {
    const { subscription, events } = await ready()

    subscription.leave()
    await vi.advanceTimersByTimeAsync(4999)
    expect(events).toEqual([])
    await vi.advanceTimersByTimeAsync(1)

    expect(events).toEqual(['over, was ready', 'closed'])
  })

  test('is not the last if another one enters in the meantime, or was there before', async () => {
    const { subscription, events } = await ready()
    subscription.enter()

    subscription.leave()
    await vi.advanceTimersByTimeAsync(20_000)
    subscription.leave()
    await vi.advanceTimersByTimeAsync(3000)
    subscription.enter()
    await vi.advanceTimersByTimeAsync(20_000)

    expect(events).toEqual([])
  })

  test('leaves it open for five seconds again after it has returned', async () => {
    const { subscription, events } = await ready()

    subscription.leave()
    await vi.advanceTimersByTimeAsync(3000)
    subscription.enter()
    subscription.leave()
    await vi.advanceTimersByTimeAsync(4999)
    expect(events).toEqual([])
    await vi.advanceTimersByTimeAsync(1)

    expect(events).toEqual(['over, was ready', 'closed'])
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('a connection that breaks', () => {
  test('is reported at once, and again when it is restored', async () => {
    const { subscription, events, listener } = await ready()

    listener.onLost?.()
    expect([subscription.isHeard, subscription.isGone]).toEqual([false, false])
    listener.onGap()

    expect(subscription.isHeard).toBe(true)
    await vi.advanceTimersByTimeAsync(5000)
    expect(events).toEqual(['lost', 'gap'])
  })

  test('for longer is gone, until it is restored', async () => {
    const { subscription, events, listener } = await ready()

    listener.onLost?.()
    await vi.advanceTimersByTimeAsync(1000)
    expect([subscription.isGone, events]).toEqual([true, ['lost', 'gone']])
    listener.onGap()

    expect([subscription.isHeard, subscription.isGone]).toEqual([true, false])
  })

  test('after the last user has left is closed in time too', async () => {
    const { subscription, events, listener } = await ready()

    subscription.leave()
    listener.onLost?.()
    await vi.advanceTimersByTimeAsync(10_000)

    expect(events).toEqual(['lost', 'gone', 'over, was ready', 'closed'])
  })
})

describe('one that is over', () => {
  test('ends once', async () => {
    const { subscription, events } = await ready()

    subscription.end()
    subscription.end()
    subscription.leave()
    await vi.advanceTimersByTimeAsync(10_000)

    expect(events).toEqual(['over, was ready', 'closed'])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('reports no loss and no gap, and leaves no timer', async () => {
    const { subscription, events, listener } = await ready()
    listener.onLost?.()

    subscription.end()
    listener.onLost?.()
    listener.onGap()
    await vi.advanceTimersByTimeAsync(10_000)

    expect(events).toEqual(['lost', 'over, was ready', 'closed'])
    expect([subscription.isHeard, vi.getTimerCount()]).toEqual([false, 0])
  })

  test('ignores the error when it cannot be ended', async () => {
    const { subscription, events, refuse } = setup()
    subscription.opened.catch(() => undefined)

    subscription.end()
    await refuse()

    // Vitest fails the run for an unhandled rejection.
    expect(events).toEqual(['over, never ready'])
  })
})
