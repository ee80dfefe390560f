// A server that answers nothing any more, whose connections nobody closes: they are given up, and new ones lead to the next server.
import { afterEach, expect, test, vi } from 'vitest'
import { begin, batchOf, ITEMS, makeTables, stored } from './fixture.ts'
import { openMariadb, openPostgres, proxyTo } from './places.ts'

afterEach(() => void vi.useRealTimers())

test.each([
  { name: 'postgres', open: openPostgres },
  { name: 'mariadb', open: openMariadb },
])(
  'connections to $name that are silent for a minute are closed',
  async ({ open }) => {
    const place = await open()
    await makeTables(place)
    const proxy = await proxyTo(place)
    const sink = place.sink(ITEMS, proxy.port)
    const ledger = await begin(sink)
    const batch = batchOf(ledger, 1, { 1: 1 })
    // As many as the pool lends.
    const all = (): Promise<unknown>[] =>
      Array.from({ length: 20 }, (_, at) => (at === 0 ? sink.apply(batch) : sink.read(ledger, [String(at)])))
    await Promise.all(Array.from({ length: 20 }, () => sink.read(ledger, ['1'])))
    proxy.halfOpen()
    const before = proxy.requests
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const silent = Promise.allSettled(all())
    while (proxy.requests < before + 20) await new Promise((resolve) => setImmediate(resolve))
    proxy.heal()

    await vi.advanceTimersByTimeAsync(60_000)
    vi.useRealTimers()
    for (const each of await silent)
      expect(each).toMatchObject({
        status: 'rejected',
        reason: { code: 'sink-unreachable', isPassing: true },
      })

    expect(await sink.apply(batch)).toBe('applied')
    expect((await sink.read(ledger, ['1'])).values).toEqual(new Map([['1', 1n]]))
    expect(await stored(place, 'items')).toEqual({ 1: '1' })
  },
  30_000,
)
