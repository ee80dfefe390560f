// A server that stops answering and whose connections stay open: they are given up, and new ones lead to the next
// server.
import { afterEach, expect, test, vi } from 'vitest'
import { begin, batchOf, ITEMS, makeTables, stored } from './fixture.ts'
import type { Sink } from '../../src/counters/sink.ts'
import { openMariadb, openPostgres, proxyTo } from './places.ts'

afterEach(() => void vi.useRealTimers())

test.each([
  { name: 'postgres', open: openPostgres },
  { name: 'mariadb', open: openMariadb },
])(
  'connections to $name that do not answer when work begins are closed',
  async ({ open }) => {
    const place = await open()
    await makeTables(place)
    const proxy = await proxyTo(place)
    const sink = place.sink(ITEMS, proxy.port)
    const ledger = await begin(sink)
    // As many as the pool hands out.
    const all = (): Promise<unknown>[] =>
      Array.from({ length: 20 }, () => sink.standing?.(ledger) as Promise<unknown>)
    await Promise.all(all())
    const before = proxy.requests
    proxy.halfOpen()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const silent = Promise.allSettled(all())
    while (proxy.requests < before + 20) await new Promise((resolve) => setImmediate(resolve))
    proxy.heal()

    await vi.advanceTimersByTimeAsync(10_000)
    vi.useRealTimers()
    for (const each of await silent)
      expect(each).toMatchObject({
        status: 'rejected',
        reason: { code: 'sink-unreachable', isPassing: true },
      })

    const batch = batchOf(ledger, 1, { 1: 1 })
    expect(await sink.apply(batch)).toBe('applied')
    expect((await sink.read(ledger, ['1'])).values).toEqual(new Map([['1', 1n]]))
    expect(await stored(place, 'items')).toEqual({ 1: '1' })
  },
  30_000,
)

test('PostgreSQL waits for a lock no longer than for a connection, unless lock_timeout is set', async () => {
  const place = await openPostgres()
  await makeTables(place)
  const written: string[] = []
  const sinkWith = (setting: string): Sink => {
    const pool = place.impatientPool(20_000)
    pool.on('connect', (client) => void client.query(`SET lock_timeout = '${setting}'`))
    return place.sinkOfPool(pool, { ...ITEMS, missing: 'refuse' })
  }
  await place.run(`CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN NEW.votes := extract(epoch FROM current_setting('lock_timeout')::interval); RETURN NEW; END $$`)
  await place.run('CREATE TRIGGER tell BEFORE UPDATE ON items FOR EACH ROW EXECUTE FUNCTION tell()')
  await place.run('INSERT INTO items VALUES (1, 0)')

  for (const setting of ['0', '3s']) {
    const sink = sinkWith(setting)
    await sink.apply(batchOf(await begin(sink), 1, { 1: 1 }))
    written.push((await stored(place, 'items'))['1'] ?? '')
  }

  expect(written).toEqual(['50', '3'])
})
