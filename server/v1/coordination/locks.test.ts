import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type FeedApi, startFeedApi } from '../../testing/feed-api.ts'
import type { HttpAnswer } from '../../testing/test-app.ts'

let api: FeedApi
beforeAll(async () => {
  api = await startFeedApi(inject('redisPort'), { feedLimits: { maxWaitMs: 5000 } })
})
afterAll(() => api[Symbol.asyncDispose]())

const newLock = (): string => `/v1/locks/${randomUUID()}`
const codeOf = ({ status, json }: HttpAnswer): unknown[] => [status, json.code]
const placeOf = ({ headers }: HttpAnswer): string => headers.get('location') ?? ''
const acquire = (lock: string, body: object = {}, query = ''): Promise<HttpAnswer> =>
  api.call('POST', `${lock}/leases${query}`, { body })
const inspect = async (lock: string): Promise<HttpAnswer['json']> => (await api.call('GET', lock)).json

async function whenWaiting(lock: string, waiting: number): Promise<void> {
  while ((await inspect(lock)).waiting !== waiting) await sleep(5)
}

/** A request that waits for the lock, from a client that can leave. */
function waitFor(lock: string): { leave(): void; left: Promise<unknown> } {
  const leaving = new AbortController()
  const headers = { 'X-Project-ID': 'test', 'Content-Type': 'application/json' }
  const url = `${api.url}${lock}/leases?wait=50s`
  const left = fetch(url, { method: 'POST', headers, signal: leaving.signal }).catch(() => null)
  return { leave: () => leaving.abort(), left }
}

describe('acquiring', () => {
  test('leases the lock to one client, and says to the others when to retry', async () => {
    const lock = newLock()
    const first = await acquire(lock, { lease: '1m', holder: 'ada' })
    const second = await acquire(lock)

    expect([first.status, first.json.leaseMs]).toEqual([201, 60_000])
    expect(placeOf(first)).toBe(`${lock}/leases/${first.json.token}`)
    expect(codeOf(second)).toEqual([409, 'held'])
    expect(second.json.retryAfterMs).toBeGreaterThan(50_000)
    expect(Number(second.headers.get('retry-after'))).toBe(Math.ceil(second.json.retryAfterMs / 1000))
    expect(await inspect(lock)).toEqual({
      name: lock.split('/').at(-1),
      mode: 'held',
      token: first.json.token,
      holders: [{ token: first.json.token, expiresAtMs: first.json.expiresAtMs, holder: 'ada' }],
      waiting: 0,
      line: [],
    })
  })

  test('needs no body, and names the holder by its address', async () => {
    const lock = newLock()
    const { status, json } = await api.call('POST', `${lock}/leases`)
    expect([status, json.leaseMs]).toEqual([201, 30_000])
    expect((await inspect(lock)).holders[0].holder).toContain('127.0.0.1')
  })

  test('waits in line, and gets the whole lease when its turn comes', async () => {
    const lock = newLock()
    const { json: first } = await acquire(lock)
    const waiting = [acquire(lock, { lease: '1m' }, '?wait=25s')]
    await whenWaiting(lock, 1)
    waiting.push(acquire(lock, { lease: '1m' }, '?wait=25s'))
    await whenWaiting(lock, 2)

    await api.call('DELETE', `${lock}/leases/${first.token}`)
    const second = await Promise.race(waiting)
    expect([second.status, second.json.leaseMs]).toEqual([201, 60_000])
    expect(second.json.token).toBeGreaterThan(first.token)
    expect((await inspect(lock)).holders[0].expiresAtMs).toBe(second.json.expiresAtMs)
    expect(second.json.expiresAtMs).toBeGreaterThan(first.expiresAtMs)
    expect(await waiting[0]).toBe(second)

    await api.call('DELETE', placeOf(second))
    expect((await waiting[1])?.json.token).toBeGreaterThan(second.json.token)
  })

  test('waits no longer than the client or the service allows', async () => {
    await using impatient = await startFeedApi(inject('redisPort'), { feedLimits: { maxWaitMs: 50 } })
    const lock = newLock()
    await impatient.call('POST', `${lock}/leases`)
    for (const wait of ['20ms', '50s']) {
      const late = await impatient.call('POST', `${lock}/leases?wait=${wait}`)
      expect([...codeOf(late), late.json.retryAfterMs > 1000]).toEqual([409, 'held', true])
    }
    expect((await impatient.call('GET', lock)).json.waiting).toBe(0)
  })

  test('shares a lock among readers, but not with a writer', async () => {
    const lock = newLock()
    const [ada, bob] = await Promise.all([
      acquire(lock, { shared: true, holder: 'ada' }),
      acquire(lock, { shared: true, holder: 'bob' }),
    ])
    expect([ada.status, bob.status, codeOf(await acquire(lock))]).toEqual([201, 201, [409, 'held']])
    expect((await inspect(lock)).mode).toBe('shared')
    expect(placeOf(ada)).toBe(`${lock}/leases/${ada.json.token}?shared=true`)

    expect((await api.call('PATCH', placeOf(ada), { body: { lease: '5m' } })).json.leaseMs).toBe(300_000)
    expect((await api.call('DELETE', placeOf(ada))).status).toBe(204)
    expect(codeOf(await api.call('DELETE', placeOf(ada)))).toEqual([410, 'lease-lost'])
    expect(codeOf(await api.call('PATCH', placeOf(ada)))).toEqual([410, 'lease-lost'])
    await api.call('DELETE', placeOf(bob))
    expect((await acquire(lock)).status).toBe(201)
  })

  test('with fair: false goes to the first request, ahead of the line', async () => {
    const lock = newLock()
    expect((await acquire(lock, { fair: false })).status).toBe(201)
    expect((await inspect(lock)).mode).toBe('held')
  })

  test('belongs to one tenant', async () => {
    const lock = newLock()
    await acquire(lock)
    const other = await api.call('POST', `${lock}/leases`, { project: 'other' })
    expect(other.status).toBe(201)
  })

  test('is the library lock named by tenant and name', async () => {
    const lock = newLock()
    const { json } = await acquire(lock)
    const name = `v1:test/${lock.split('/').at(-1)}`
    expect((await api.perilune.lock(name).inspect()).token).toBe(json.token)
  })
})

describe('a lease', () => {
  test('lasts longer when it is extended by a client with its token', async () => {
    const { json, ...granted } = await acquire(newLock(), { lease: '30s' })
    const place = granted.headers.get('location') ?? ''
    const longer = await api.call('PATCH', place, { body: { lease: '1h' } })
    expect([longer.status, longer.json.token, longer.json.leaseMs]).toEqual([200, json.token, 3_600_000])
    expect(longer.json.expiresAtMs).toBeGreaterThan(json.expiresAtMs + 3_000_000)
    expect((await api.call('PATCH', place)).json.leaseMs).toBe(30_000)
  })

  test('that has ended, was given back or never existed, is lost', async () => {
    const lock = newLock()
    const granted = await acquire(lock, { lease: '200ms' })
    while ((await inspect(lock)).mode !== 'free') await sleep(5)
    for (const place of [placeOf(granted), `${lock}/leases/1`, `${newLock()}/leases/9007199254740991`]) {
      expect(codeOf(await api.call('PATCH', place)), place).toEqual([410, 'lease-lost'])
      expect(codeOf(await api.call('DELETE', place)), place).toEqual([410, 'lease-lost'])
    }
  })

  test('of an owner does not count as a reader', async () => {
    const granted = await acquire(newLock())
    const place = `${placeOf(granted)}?shared=true`
    expect(codeOf(await api.call('DELETE', place))).toEqual([410, 'lease-lost'])
    expect(codeOf(await api.call('PATCH', place))).toEqual([410, 'lease-lost'])
    expect((await api.call('DELETE', placeOf(granted))).status).toBe(204)
  })

  test('is lost when the lock is cleared, and waiting requests continue', async () => {
    const lock = newLock()
    const granted = await acquire(lock)
    const waiting = acquire(lock, {}, '?wait=25s')
    await whenWaiting(lock, 1)
    expect((await api.call('DELETE', lock)).status).toBe(204)
    expect((await waiting).status).toBe(201)
    expect(codeOf(await api.call('DELETE', placeOf(granted)))).toEqual([410, 'lease-lost'])
  })
})

describe('a client that leaves while it waits', () => {
  test('leaves nothing in line', async () => {
    const lock = newLock()
    await acquire(lock)
    const waiter = waitFor(lock)
    await whenWaiting(lock, 1)
    waiter.leave()
    await whenWaiting(lock, 0)
    expect((await inspect(lock)).line).toEqual([])
  })

  test('keeps no grant that was made before its end was noticed', async () => {
    const lock = newLock()
    for (let round = 0; round < 20; round += 1) {
      const holder = await acquire(lock, { lease: '10m' }, '?wait=4s')
      const waiter = waitFor(lock)
      await whenWaiting(lock, 1)
      waiter.leave()
      await waiter.left
      expect((await api.call('DELETE', placeOf(holder))).status).toBe(204)
    }
    while ((await inspect(lock)).mode !== 'free') await sleep(5)
    expect((await inspect(lock)).waiting).toBe(0)
  })

  test('and a service that closes, end the waiting', async () => {
    const closing = await startFeedApi(inject('redisPort'))
    const lock = newLock()
    await closing.call('POST', `${lock}/leases`)
    const waiting = closing.call('POST', `${lock}/leases?wait=25s`)
    while ((await closing.call('GET', lock)).json.waiting !== 1) await sleep(5)
    await closing[Symbol.asyncDispose]()
    expect(codeOf(await waiting)).toEqual([503, 'unavailable'])
  })
})

test('a thousand requests that wait for one lock listen through one connection', async () => {
  const namespace = `t-${randomUUID()}`
  await using busy = await startFeedApi(inject('redisPort'), { namespace })
  const lock = newLock()
  await busy.call('POST', `${lock}/leases`)
  const leaving = new AbortController()
  const url = `${busy.url}${lock}/leases?wait=50s`
  const polls = Array.from({ length: 1000 }, () =>
    fetch(url, {
      method: 'POST',
      headers: { 'X-Project-ID': 'test', 'Content-Type': 'application/json' },
      signal: leaving.signal,
    }).catch(() => null),
  )
  while ((await busy.call('GET', lock)).json.waiting !== 1000) await sleep(20)

  const channels = (await busy.client.pubsub('CHANNELS', `${namespace}:{lock:*`)) as string[]
  const listeners = await busy.client.pubsub('NUMSUB', ...channels)
  expect([channels.length, listeners[1]]).toEqual([1, 1])

  leaving.abort()
  await Promise.all(polls)
  while ((await busy.call('GET', lock)).json.waiting !== 0) await sleep(20)
})

describe('an invalid argument', () => {
  const wrong: [argument: string, body: object, query?: string][] = [
    ['lease', { lease: '30' }],
    ['lease', { lease: '31d' }],
    ['lease', { lease: '1ms' }],
    ['lease', { lease: 30 }],
    ['holder', { holder: '' }],
    ['holder', { holder: 'x'.repeat(129) }],
    ['holder', { holder: 'a\nb' }],
    ['fair', { fair: 'last' }],
    ['shared', { shared: 'yes' }],
    ['ttl', { ttl: '30s' }],
    ['wait', {}, '?wait=5'],
    ['wait', {}, '?wait=2h'],
    ['wait', {}, '?wait=1s&wait=1s'],
    ['shared', {}, '?shared=true'],
    ['maxHold', { maxHold: '1h' }],
  ]
  test.each(wrong)('is rejected by its name: %s', async (argument, body, query = '') => {
    const lock = newLock()
    const { status, json } = await acquire(lock, body, query)
    expect([status, json.code, json.argument]).toEqual([400, 'invalid-argument', argument])
    expect((await inspect(lock)).token).toBe(null)
  })

  test('in a path is rejected too: huge names, control characters, invalid tokens', async () => {
    const refused = async (method: string, path: string): Promise<unknown> =>
      (await api.call(method, path)).json.argument
    expect(await refused('POST', `/v1/locks/${'x'.repeat(600)}/leases`)).toBe('name')
    expect(await refused('GET', `/v1/locks/a%00b`)).toBe('name')
    expect(await refused('GET', `${newLock()}?deep=true`)).toBe('deep')
    for (const token of ['0', '-1', 'x', '1e3', '9'.repeat(17), '9999999999999999', '%27']) {
      expect(await refused('DELETE', `${newLock()}/leases/${token}`), token).toBe('token')
      expect(await refused('PATCH', `${newLock()}/leases/${token}`), token).toBe('token')
    }
  })

  test('as a method is answered with the allowed ones', async () => {
    const right = [
      ['', 'GET'],
      ['', 'DELETE'],
      ['/leases', 'POST'],
      ['/leases/1', 'PATCH'],
      ['/leases/1', 'DELETE'],
    ] as const
    for (const [path, method] of right) {
      const { status, headers } = await api.call('PUT', newLock() + path)
      expect([status, headers.get('allow')]).toEqual([405, expect.stringContaining(method)])
    }
    expect((await fetch(`${api.url}${newLock()}`, { method: 'HEAD' })).status).toBe(200)
  })
})
