import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ListPlace } from '../../linked-list.ts'
import { AmbiguousError, DriverError } from '../errors/errors.ts'
import type { ExtensionAnswer, ExtensionQuestion } from './belief.ts'
import type { LeaseKind } from './extend-together.ts'
import { End } from './grant.ts'
import { type KeeperLease, LeaseKeeper } from './lease-keeper.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

/** A lease that records its notifications. */
class StubLease implements KeeperLease {
  readonly place: ListPlace<KeeperLease> = new ListPlace<KeeperLease>(this)
  readonly events: string[] = []
  readonly askedAt: number = performance.now()
  readonly slotName: string = 'slot'
  readonly wantedMs: number = 3000
  readonly kind: LeaseKind
  readonly token: number
  readonly beginning: string
  isExtendedAlone = false
  dueAt: number
  mayExtendAt: number

  constructor(kind: LeaseKind, token: number, inMs: number, beginning = 'unit') {
    this.kind = kind
    this.token = token
    this.beginning = beginning
    this.dueAt = performance.now() + inMs
    this.mayExtendAt = this.dueAt
  }

  ask(leaseMs: number): ExtensionQuestion {
    this.events.push('asked')
    this.#plan(Infinity)
    const askedAt = performance.now()
    return { askedAt, leaseMs, end: new End(askedAt + leaseMs) }
  }

  noteExtended(_: ExtensionQuestion, { expiresAtMs }: ExtensionAnswer): void {
    this.events.push(expiresAtMs === 0 ? 'lost' : 'extended')
    this.#plan(performance.now() + 1000)
  }

  noteNotExtended(): void {
    this.events.push('not extended')
    this.#plan(performance.now() + 1000)
  }

  doubt(): void {
    this.events.push('doubted')
  }

  noteEnded(): void {
    this.events.push('cleared')
  }

  replan(): void {
    this.events.push('replanned')
  }

  expireIfOver(): void {
    this.events.push('looked')
  }

  stop(): void {
    this.events.push('stopped')
  }

  async giveBackWithin(ms: number): Promise<void> {
    this.events.push(`given back within ${ms}`)
  }

  #plan(at: number): void {
    this.dueAt = at
    this.mayExtendAt = at
  }
}

interface Setup {
  readonly keeper: LeaseKeeper
  /** Tokens of each call. */
  readonly calls: number[][]
  lease(token: number, inMs: number, beginning?: string): StubLease
}

/** A server that rejects each call with a lease of one of these tokens. */
function setup(refused: readonly number[] = [], hasOthers = false): Setup {
  const keeper = new LeaseKeeper()
  const calls: number[][] = []
  const kind: LeaseKind = {
    name: 'lock',
    hasOthers,
    extend: async (leases) => {
      const tokens = leases.map(({ token }) => token)
      calls.push(tokens)
      if (tokens.some((token) => refused.includes(token))) throw new DriverError('forbidden', 'no right')
      return { nowMs: 1, endsAtMs: leases.map(() => 2) }
    },
  }
  const lease = (token: number, inMs: number, beginning?: string): StubLease => {
    const one = new StubLease(kind, token, inMs, beginning)
    keeper.keep(one.place)
    return one
  }
  return { keeper, calls, lease }
}

describe('a lease that is kept', () => {
  test('is extended when it is due, and again when it is due again', async () => {
    const { calls, lease } = setup()
    lease(1, 400)

    await vi.advanceTimersByTimeAsync(399)
    expect(calls).toEqual([])
    await vi.advanceTimersByTimeAsync(1100)

    expect(calls).toEqual([[1], [1]])
  })

  test('is extended together with leases that are nearly due', async () => {
    const { calls, lease } = setup()
    lease(1, 400)
    lease(2, 800).mayExtendAt = performance.now() + 300
    lease(3, 800)

    await vi.advanceTimersByTimeAsync(400)

    expect(calls).toEqual([[1, 2]])
  })

  test('is not affected by a lease that the server rejects, which is extended alone from then on', async () => {
    const { calls, lease } = setup([2])
    const leases = [1, 2, 3].map((token) => lease(token, 400))

    await vi.advanceTimersByTimeAsync(400)
    expect(leases.map(({ events }) => events.at(-1))).toEqual(['extended', 'not extended', 'extended'])
    calls.length = 0
    await vi.advanceTimersByTimeAsync(1000)

    expect(calls).toEqual([[1, 3], [2]])
  })

  test('is ignored once it is dropped, until it is watched again', async () => {
    const { keeper, calls, lease } = setup()
    const one = lease(1, 400)

    keeper.drop(one.place)
    await vi.advanceTimersByTimeAsync(2000)
    expect(calls).toEqual([])
    keeper.watch(one.place)
    await vi.advanceTimersByTimeAsync(0)

    expect(calls).toEqual([[1]])
  })

  test('may become due earlier than planned', async () => {
    const { keeper, calls, lease } = setup()
    const one = lease(1, 60_000)

    one.dueAt = one.mayExtendAt = performance.now()
    keeper.replan(one.place)
    await vi.advanceTimersByTimeAsync(1)

    expect(calls).toEqual([[1]])
  })
})

describe('an extension by hand', () => {
  test('is requested at once', async () => {
    const { keeper, calls, lease } = setup()

    await keeper.extendNow(lease(1, 60_000).place, 500)

    expect(calls).toEqual([[1]])
  })

  test('rejects with the error of the server', async () => {
    const { keeper, lease } = setup([1])

    await expect(keeper.extendNow(lease(1, 60_000).place, 500)).rejects.toThrow('no right')
  })
})

test('objects of one lease that are due together are asked for once each, in one call', async () => {
  const { calls, lease } = setup([], true)
  const objects = [lease(1, 400), lease(1, 400), lease(1, 400), lease(2, 400)]

  await vi.advanceTimersByTimeAsync(500)

  expect(calls).toEqual([[1, 1, 1, 2]])
  for (const { events } of objects) expect(events.filter((event) => event === 'asked')).toHaveLength(1)
})

describe('a unit that is deleted', () => {
  test('notifies its leases, and no others', async () => {
    const { keeper, lease } = setup()
    const [one, other] = [lease(1, 60_000), lease(2, 60_000, 'another unit')]

    await keeper.clearing('unit', async () => undefined)

    expect(one.events).toContain('cleared')
    expect(other.events).toEqual([])
  })

  test.each([
    ['refused: notifies no lease', new DriverError('forbidden', 'no right'), []],
    ['not answered: leaves its leases in doubt', new AmbiguousError('clear'), ['doubted']],
  ])('whose deletion is %s', async (_, failure, events) => {
    const { keeper, lease } = setup()
    const one = lease(1, 60_000)

    await expect(keeper.clearing('unit', () => Promise.reject(failure))).rejects.toBe(failure)

    expect(one.events).toEqual(events)
  })

  test('leaves a lease in doubt that was requested before, and is granted later', async () => {
    const { keeper, lease } = setup()
    await keeper.clearing('unit', async () => undefined)

    // The clock stands still: both requests have the same time.
    const one = lease(1, 400)
    expect(one.events).toEqual(['doubted'])
  })
})

describe('an instance that closes', () => {
  const cause = new Error('closed')

  test('stops all leases, and then gives them back', async () => {
    const { keeper, calls, lease } = setup()
    const leases = [lease(1, 400), lease(2, 400)]

    await keeper.close(cause, 500)
    await vi.advanceTimersByTimeAsync(2000)

    for (const { events } of leases) expect(events).toEqual(['stopped', 'given back within 500'])
    expect([calls, vi.getTimerCount()]).toEqual([[], 0])
  })

  test('keeps no lease that is granted in the meantime', async () => {
    const { keeper, lease } = setup()
    await keeper.close(cause, 500)

    const one = lease(1, 400)
    keeper.watch(one.place)
    await vi.advanceTimersByTimeAsync(2000)

    expect(one.events).toEqual(['stopped', 'given back within 0'])
  })
})
