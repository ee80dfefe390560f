import { setTimeout as sleep } from 'node:timers/promises'
import { bytes, InvalidArgumentError, LoadFailedError, MaxRunError, WaitTimeoutError } from 'perilune'
import { expect, test } from 'vitest'
import { counted, setup } from '../../test/cache-fixture.ts'
import { gate } from '../../test/once-fixture.ts'

test('a value is loaded once and kept, and a hit runs no script', async () => {
  const { cache, calls } = await setup<{ name: string }>()
  const { load, runs } = counted(() => ({ name: 'Ada' }))
  await cache.get('a', load)
  const before = calls.length

  expect(await cache.get('a', load)).toEqual({ name: 'Ada' })
  expect(runs()).toBe(1)
  expect(calls.slice(before)).toEqual([])
})

test('gets of one key at once run the loader once', async () => {
  const { cache } = await setup<number>()
  const { load, runs } = counted((run) => run)

  const values = await Promise.all(Array.from({ length: 100 }, () => cache.get('a', load)))

  expect(new Set(values)).toEqual(new Set([1]))
  expect(runs()).toBe(1)
})

test('another process waits for the load and gets what it found', async () => {
  const { cache, another } = await setup<string>()
  const [began, held] = [gate(), gate()]
  const first = cache.get('a', async () => {
    began.open()
    await held.opened
    return 'loaded'
  })
  await began.opened
  const { load, runs } = counted(() => 'again')

  const second = another().cache.get('a', load)
  await sleep(50)
  held.open()

  expect(await Promise.all([first, second])).toEqual(['loaded', 'loaded'])
  expect(runs()).toBe(0)
})

test('a value is fresh, then stale while it is loaded again, then absent', async () => {
  const { cache, clock } = await setup<number>({ freshFor: '1m', staleFor: '1m', early: false })
  const { load, runs } = counted((run) => run)
  await cache.get('a', load)

  await clock.advance(59_000)
  expect(await cache.get('a', load)).toBe(1)
  expect(runs()).toBe(1)
  await clock.advance(1000)
  expect(await cache.get('a', load)).toBe(1)
  await expect.poll(async () => (await cache.peek('a'))?.value).toBe(2)
  await clock.advance(120_000)
  expect(await cache.peek('a')).toBeNull()
  expect(await cache.get('a', load)).toBe(3)
})

test('a value is loaded ahead of its end, by one process, while it is served', async () => {
  const { cache, clock, another } = await setup<number>({ freshFor: '10s' })
  const slow = counted(async (run) => {
    await sleep(100)
    return run
  })
  await cache.get('a', slow.load)
  await clock.advance(9900)

  const others = [another().cache, another().cache, cache]
  expect(await Promise.all(others.map((each) => each.get('a', slow.load)))).toEqual([1, 1, 1])
  await expect.poll(async () => (await cache.peek('a'))?.value).toBe(2)

  expect(slow.runs()).toBe(2)
})

test('by early: xfetch an eager beta loads a value again long before its end', async () => {
  const { cache, clock } = await setup<number>({ freshFor: '10s', early: 'xfetch', beta: 100 })
  const slow = counted(async (run) => {
    await sleep(200)
    return run
  })
  await cache.get('a', slow.load)
  await clock.advance(5500)

  const reads = async (): Promise<number> => {
    await cache.get('a', slow.load)
    return slow.runs()
  }
  await expect.poll(reads).toBeGreaterThan(1)
})

test('a stale value is held back for patience, and given when the load takes longer', async () => {
  const { cache, clock } = await setup<number>({ freshFor: '1m', staleFor: '1h', patience: '200ms' })
  await cache.get('a', () => 1)
  await clock.advance(60_000)

  expect(await cache.get('a', () => 2)).toBe(2)
  await clock.advance(60_000)
  const held = gate()
  expect(await cache.get('a', () => held.opened.then(() => 3))).toBe(2)
  held.open()
})

test('what a loader throws reaches all who wait, in every process, and is not kept', async () => {
  const { cache, another } = await setup<string>()
  const [began, held] = [gate(), gate()]
  const broken = async (): Promise<string> => {
    began.open()
    await held.opened
    throw new TypeError('no route')
  }
  const first = cache.get('a', broken)
  const joined = cache.get('a', broken)
  await began.opened
  const elsewhere = another().cache.get('a', () => 'mine')
  await sleep(50)
  held.open()

  const [one, two, three] = await Promise.allSettled([first, joined, elsewhere])
  expect(one).toMatchObject({ reason: expect.any(TypeError) })
  expect(two).toMatchObject({ reason: expect.any(TypeError) })
  expect(three).toMatchObject({ reason: expect.any(LoadFailedError) })
  expect(await cache.get('a', () => 'fine')).toBe('fine')
})

test('a stale value is served while its loader fails', async () => {
  const { cache, clock } = await setup<number>({ freshFor: '1m', staleFor: '1h' })
  await cache.get('a', () => 1)
  await clock.advance(60_000)
  const broken = counted<number>(() => Promise.reject(new Error('down')))

  expect(await cache.get('a', broken.load)).toBe(1)
  await expect.poll(broken.runs).toBe(1)
  expect(await cache.get('a', broken.load)).toBe(1)
})

test('that there is nothing is kept, as it was said, for its own time', async () => {
  const { cache, clock } = await setup<string | null | undefined>({ negativeFor: '5s' })
  const nothing = counted(() => undefined)
  await cache.get('a', nothing.load)
  await cache.get('b', () => null)

  expect(await cache.get('a', nothing.load)).toBeUndefined()
  expect(await cache.get('b', () => 'late')).toBeNull()
  expect(nothing.runs()).toBe(1)
  await clock.advance(5000)
  expect(await cache.get('a', () => 'there')).toBe('there')
})

test('with negativeFor 0 that there is nothing is not kept', async () => {
  const { cache } = await setup<string | null>({ negativeFor: '0s' })
  await cache.get('a', () => null)

  expect(await cache.get('a', () => 'there')).toBe('there')
})

test('a get after an invalidation never joins the load that began before it', async () => {
  const { cache, another } = await setup<string>()
  const [began, held] = [gate(), gate()]
  const before = cache.get('a', async () => {
    began.open()
    await held.opened
    return 'old'
  })
  await began.opened
  await another().cache.invalidate('a')
  const after = cache.get('a', () => 'new')
  const afterElsewhere = another().cache.get('a', () => 'new')
  await sleep(50)
  held.open()

  expect(await before).toBe('old')
  expect(await after).toBe('new')
  expect(await afterElsewhere).toBe('new')
  expect((await cache.peek('a'))?.value).toBe('new')
})

test('an invalidated key is loaded again', async () => {
  const { cache, another } = await setup<number>()
  await cache.get('a', () => 1)
  await cache.get('b', () => 1)

  expect(await another().cache.invalidate(['a', 'b', 'c'])).toBe(2)

  expect(await cache.get('a', () => 2)).toBe(2)
  expect(await cache.peek('b')).toBeNull()
})

test('an invalidated tag ends all values that have it, in every process', async () => {
  const { cache, another } = await setup<number>()
  const tags = ['t']
  await cache.get('a', () => 1, { tags })
  await cache.get('b', () => 1)

  await another().cache.invalidate({ tag: 't' })

  expect(await cache.peek('a')).toBeNull()
  expect(await cache.get('a', () => 2, { tags })).toBe(2)
  expect(await cache.get('a', () => 3, { tags })).toBe(2)
  expect(await cache.get('b', () => 2)).toBe(1)
  expect((await cache.inspect('a')).tags).toEqual(['t'])
})

test('who asks after a tag was invalidated does not join the load that began before it', async () => {
  const { cache, another } = await setup<string>()
  const tags = ['t']
  const [began, held] = [gate(), gate()]
  const before = cache.get(
    'a',
    async () => {
      began.open()
      await held.opened
      return 'old'
    },
    { tags },
  )
  await began.opened
  await another().cache.invalidate({ tag: 't' })
  const after = cache.get('a', () => 'new', { tags })
  await sleep(50)
  held.open()

  expect(await before).toBe('old')
  expect(await after).toBe('new')
})

test('a value that was stored under other tags does not count', async () => {
  const { cache } = await setup<number>()
  await cache.get('a', () => 1, { tags: ['t'] })

  expect(await cache.get('a', () => 2)).toBe(2)
  expect(await cache.get('a', () => 3, { tags: ['t'] })).toBe(3)
})

test('a set takes the place of a load that is under way', async () => {
  const { cache, another } = await setup<string>()
  const [began, held] = [gate(), gate()]
  const loading = cache.get('a', async () => {
    began.open()
    await held.opened
    return 'loaded'
  })
  await began.opened
  await another().cache.set('a', 'set')
  held.open()
  await loading

  expect(await cache.get('a', () => 'again')).toBe('set')
})

test('a set with an older version is refused', async () => {
  const { cache } = await setup<string>()

  expect(await cache.set('a', 'seven', { version: 7 })).toMatchObject({ stored: true })
  expect(await cache.set('a', 'six', { version: 6 })).toEqual({ stored: false, version: 7 })
  expect(await cache.get('a', () => 'loaded')).toBe('seven')
})

test('a loader says how long its value counts, and its version', async () => {
  const { cache, clock } = await setup<number>({ freshFor: '1h' })
  await cache.get('a', (context) => {
    context.keep({ freshFor: '5s', version: 3 })
    return 1
  })
  await clock.advance(5000)

  expect(await cache.peek('a')).toBeNull()
  expect(await cache.set('a', 2, { version: 2 })).toEqual({ stored: false, version: 3 })
})

test('getMany loads all that this process has to load in one call', async () => {
  const { cache } = await setup<string>()
  await cache.set('b', 'kept')
  const asked: (readonly string[])[] = []

  const values = await cache.getMany(['a', 'b', 'c', 'a'], (keys) => {
    asked.push(keys)
    return new Map(keys.filter((key) => key === 'a').map((key) => [key, `new ${key}`]))
  })

  expect([...values]).toEqual([
    ['a', 'new a'],
    ['b', 'kept'],
    ['c', undefined],
  ])
  expect(asked).toEqual([['a', 'c']])
})

test('getMany serves what is stale and loads all of it again in one call', async () => {
  const { cache, clock } = await setup<number>({ freshFor: '1m', staleFor: '1h' })
  const asked: (readonly string[])[] = []
  const many = (keys: readonly string[]): Map<string, number> => {
    asked.push(keys)
    return new Map(keys.map((key) => [key, asked.length]))
  }
  await cache.getMany(['a', 'b', 'c'], many)
  await clock.advance(60_000)

  expect([...(await cache.getMany(['a', 'b', 'c'], many)).values()]).toEqual([1, 1, 1])
  await expect.poll(async () => (await cache.peek('c'))?.value).toBe(2)
  expect(asked).toEqual([
    ['a', 'b', 'c'],
    ['a', 'b', 'c'],
  ])
})

test('getMany waits for what another process loads', async () => {
  const { cache, another } = await setup<string>()
  const [began, held] = [gate(), gate()]
  const first = cache.get('a', async () => {
    began.open()
    await held.opened
    return 'theirs'
  })
  await began.opened
  const many = another().cache.getMany(['a', 'b'], (keys) => new Map(keys.map((key) => [key, 'mine'])))
  await sleep(50)
  held.open()
  await first

  expect([...(await many)]).toEqual([
    ['a', 'theirs'],
    ['b', 'mine'],
  ])
})

test('a loader that takes longer than maxLoad has failed, and its signal aborts', async () => {
  const { cache } = await setup<string>({ maxLoad: '50ms' })
  let reason: unknown

  const got = cache.get('a', ({ signal }) => {
    signal.addEventListener('abort', () => (reason = signal.reason))
    return new Promise(() => undefined)
  })

  await expect(got).rejects.toThrow(MaxRunError)
  expect(reason).toBeInstanceOf(MaxRunError)
  expect(await cache.get('a', () => 'fine')).toBe('fine')
})

test('who waits for a load waits no longer than he said', async () => {
  const { cache, another } = await setup<string>()
  const held = gate()
  const first = cache.get('a', () => held.opened.then(() => 'late'))
  const load = (): string => 'never'

  await expect(another().cache.get('a', load, { wait: '50ms' })).rejects.toThrow(WaitTimeoutError)
  await expect(cache.get('a', load, { wait: '50ms' })).rejects.toThrow(WaitTimeoutError)
  const aborter = new AbortController()
  const aborted = cache.get('a', load, { signal: aborter.signal })
  aborter.abort(new Error('enough'))
  await expect(aborted).rejects.toThrow('enough')
  held.open()
  expect(await first).toBe('late')
})

test('a loader whose lease is lost is replaced, and what it finds late is refused', async () => {
  const { cache, clock, another } = await setup<string>({ lease: '1h' })
  const [began, held] = [gate(), gate()]
  const first = cache.get('a', async () => {
    began.open()
    await held.opened
    return 'late'
  })
  await began.opened
  await clock.advance(3_600_000)

  expect(await another().cache.get('a', () => 'in time')).toBe('in time')
  held.open()
  expect(await first).toBe('late')
  expect((await cache.peek('a'))?.value).toBe('in time')
})

test('a load that takes longer than its lease keeps it', async () => {
  const { cache, another } = await setup<string>({ clock: 'real', lease: '300ms' })
  const began = gate()
  const first = cache.get('a', async () => {
    began.open()
    await sleep(1000)
    return 'slow'
  })
  await began.opened
  const second = counted(() => 'mine')

  expect(await another().cache.get('a', second.load)).toBe('slow')
  expect(await first).toBe('slow')
  expect(second.runs()).toBe(0)
})

test('a codec makes bytes, and another one is refused', async () => {
  const { cache, another } = await setup<Uint8Array>({ codec: bytes })
  await cache.get('a', () => new Uint8Array([0, 255, 128]))

  expect(Uint8Array.from(await cache.get('a', () => new Uint8Array()))).toEqual(new Uint8Array([0, 255, 128]))
  const json = another({}).cache
  await expect(json.get('a', () => new Uint8Array())).rejects.toThrow(InvalidArgumentError)
})

test('inspect tells what is known of a key', async () => {
  const { cache } = await setup<string>({ freshFor: '1m', staleFor: '30s' })
  expect(await cache.inspect('a')).toMatchObject({ state: 'absent', bytes: 0, version: null, load: null })
  const held = gate()
  const loading = cache.get('a', () => held.opened.then(() => 'value'))
  await expect.poll(async () => (await cache.inspect('a')).load?.token).toBeGreaterThan(0)
  held.open()
  await loading

  const { createdAtMs, freshUntilMs, staleUntilMs, ...rest } = await cache.inspect('a')
  expect([(freshUntilMs ?? 0) - (createdAtMs ?? 0), (staleUntilMs ?? 0) - (freshUntilMs ?? 0)]).toEqual([
    60_000, 30_000,
  ])
  expect(rest).toMatchObject({
    state: 'fresh',
    bytes: 52,
    codec: 'json',
    negative: false,
    tags: [],
    load: null,
  })
})

test('jitter takes off up to a part of the time, never more', async () => {
  const { cache } = await setup<number>({ freshFor: '100s', jitter: 0.5 })
  const spans = await Promise.all(
    ['a', 'b', 'c'].map(async (key) => {
      await cache.get(key, () => 1)
      const { createdAtMs, freshUntilMs } = await cache.inspect(key)
      return (freshUntilMs ?? 0) - (createdAtMs ?? 0)
    }),
  )

  expect(Math.min(...spans)).toBeGreaterThanOrEqual(50_000)
  expect(Math.max(...spans)).toBeLessThanOrEqual(100_000)
  expect(new Set(spans).size).toBeGreaterThan(1)
})

test('bad arguments are refused by their names before anything is sent', async () => {
  const { cache, another, calls } = await setup<number>()
  const refused: [string, () => unknown][] = [
    ['key', () => cache.get('', () => 1)],
    ['loader', () => cache.get('a', 1 as never)],
    ['tags', () => cache.get('a', () => 1, { tags: 't' as never })],
    ['tag', () => cache.get('a', () => 1, { tags: [''] })],
    ['tag', () => cache.invalidate({ tag: 'x'.repeat(256) })],
    ['freshFor', () => cache.get('a', () => 1, { freshFor: '0s' })],
    ['version', () => cache.set('a', 1, { version: 0 })],
    ['value', () => cache.set('a', (() => 1) as never)],
    ['keys', () => cache.getMany('a' as never, () => new Map())],
    ['options.ttl', async () => another({ ttl: 5 } as never)],
    ['early', async () => another({ early: 'never' as never })],
    ['jitter', async () => another({ jitter: 0.6 })],
    ['localConcurrency', async () => another({ localConcurrency: 0 })],
  ]

  for (const [argument, call] of refused) {
    const error: unknown = await Promise.resolve()
      .then(call)
      .catch((thrown: unknown) => thrown)
    expect(error, argument).toBeInstanceOf(InvalidArgumentError)
    expect(error).toMatchObject({ argument })
  }
  expect(calls).toEqual([])
})
