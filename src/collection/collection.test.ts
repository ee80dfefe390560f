import { bytes, type CollectionList, type Driver, InvalidArgumentError } from 'perilune'
import { describe, expect, test } from 'vitest'
import { type Instance, instance } from '../../test/instance.ts'
import { ConnectionLostError } from '../driver.ts'

interface Setup extends Instance {
  list: CollectionList<number>
}

function setup(): Setup {
  const made = instance()
  return { ...made, list: made.redis.collection<number>(made.name, { kind: 'list' }) }
}

const upTo = (count: number, from = 0): number[] => Array.from({ length: count }, (_, at) => from + at)

/** All items, page by page. */
async function all<Item>(collection: {
  read(options: { after?: string; limit: number }): ReturnType<CollectionList<Item>['read']>
}): Promise<Item[] | string> {
  const items: Item[] = []
  let after: string | undefined
  for (;;) {
    const page = await collection.read({ limit: 1000, ...(after === undefined ? {} : { after }) })
    if (page.status !== 'page') return page.status
    items.push(...page.items)
    if (page.next === null) return items
    after = page.next
  }
}

describe('each kind is read as it was stored', () => {
  test('a list', async () => {
    const { redis, name } = instance()
    const list = redis.collection(name, { kind: 'list' })
    const items = ['a', { b: [1.5, null] }, 'a', '', false, '☾']
    expect(await list.replace(items)).toMatchObject({ status: 'replaced', size: 6 })
    expect(await list.read()).toMatchObject({ status: 'page', items, next: null, size: 6, version: null })
    expect(await list.append(['z', 1])).toEqual({ status: 'added', size: 8, added: 2, removed: 0 })
    expect(await all(list)).toEqual([...items, 'z', 1])
  })

  test('a set', async () => {
    const { redis, name } = instance()
    const set = redis.collection<string>(name, { kind: 'set' })
    expect(await set.replace(['a', 'b', 'a'])).toMatchObject({ size: 2 })
    expect(await set.add(new Set(['b', 'c']))).toMatchObject({ size: 3, added: 1 })
    expect(await set.remove(['a', 'x'])).toEqual({ status: 'removed', size: 2, removed: 1 })
    expect(((await all(set)) as string[]).toSorted()).toEqual(['b', 'c'])
  })

  test('a hash', async () => {
    const { redis, name } = instance()
    const hash = redis.collection<{ n: number }>(name, { kind: 'hash' })
    expect(await hash.replace(Object.entries({ a: { n: 1 }, b: { n: 2 } }))).toMatchObject({ size: 2 })
    expect(await hash.add([['b', { n: 3 }]])).toMatchObject({ size: 2, added: 0 })
    expect(await hash.remove(['a'])).toMatchObject({ removed: 1 })
    expect(await all(hash)).toEqual([['b', { n: 3 }]])
    expect(
      await hash.replace([
        ['twice', { n: 1 }],
        ['twice', { n: 2 }],
      ]),
    ).toMatchObject({ size: 1 })
    expect(await all(hash)).toEqual([['twice', { n: 2 }]])
  })

  test('a set of bytes, whatever texts look like them', async () => {
    const { redis, name } = instance()
    const set = redis.collection<Uint8Array>(name, { kind: 'set', codec: bytes })
    // Invalid UTF-8, and valid UTF-8 with the same Latin-1 letter.
    const items = [Uint8Array.of(0xff), Uint8Array.of(0, 0xc3, 0xbf), Buffer.from('\ufffdÿ')]
    expect(await set.replace(items)).toMatchObject({ size: 3 })
  })

  test('a sorted set, in the order of its scores, which are exact', async () => {
    const { redis, name } = instance()
    const ranked = redis.collection<string>(name, { kind: 'sortedSet' })
    const scores = [0.1 + 0.2, 1e300, -5e-324, Number.MAX_SAFE_INTEGER, -1]
    const items = scores.map((score) => [`m${score}`, score] as const)
    await ranked.replace(items)
    expect(await all(ranked)).toEqual(items.toSorted((a, b) => a[1] - b[1]))
    await ranked.add([['m-1', 7]])
    await ranked.remove(['m1e+300'])
    expect(await ranked.read({ limit: 1000 })).toMatchObject({ size: 4 })
  })

  test('bytes, under a codec of bytes', async () => {
    const { redis, name } = instance()
    const set = redis.collection(name, { kind: 'set', codec: bytes })
    const items = [Buffer.from([0, 255]), Buffer.from([128]), Buffer.from([129]), Buffer.from([128])]
    expect(await set.replace(items)).toMatchObject({ size: 3 })
    const other = redis.collection(name, { kind: 'set' })
    await expect(other.read()).rejects.toThrow('codec must be the one the data was written with: bytes')
  })
})

describe('many items', () => {
  test('are built in a separate key, and switched in by one call', async () => {
    const { list, calls, client, name } = setup()
    expect(await list.replace(upTo(5000), { version: 1 })).toMatchObject({ status: 'replaced', size: 5000 })
    // A script begins and decides; the rest needs no script.
    const pushes = ['RPUSH', 'RPUSH', 'PEXPIRE']
    expect(calls).toEqual(['collection/build', ...pushes, 'collection/switch-in'])
    expect(await all(list)).toEqual(upTo(5000))
    expect(await client.keys(`*${name}*build*`)).toEqual([])
  })

  test('of every kind are built', async () => {
    const { redis, name } = instance()
    const set = redis.collection<number>(`${name} set`, { kind: 'set' })
    await set.replace([...upTo(2500), ...upTo(2500)])
    expect(((await all(set)) as number[]).toSorted((a, b) => a - b)).toEqual(upTo(2500))
    const hash = redis.collection<number>(`${name} hash`, { kind: 'hash' })
    expect(await hash.replace(upTo(2500).map((n) => [`f${n % 2000}`, n]))).toMatchObject({ size: 2000 })
    expect(new Map((await all(hash)) as [string, number][]).get('f0')).toBe(2000)
    const ranked = redis.collection<number>(`${name} ranked`, { kind: 'sortedSet' })
    await ranked.replace(upTo(2500).map((n) => [n, 1 - n]))
    expect(await all(ranked)).toEqual(
      upTo(2500)
        .map((n) => [n, 1 - n])
        .toReversed(),
    )
  })

  test('that are few but large are built, too, and read in pages of 4 MiB', async () => {
    const { redis, name, calls } = instance()
    const list = redis.collection<string>(name, { kind: 'list' })
    const items = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((letter) => letter.repeat(1_000_000))
    await list.replace(items)
    expect(calls.filter((call) => call === 'RPUSH')).toHaveLength(6)
    const page = await list.read({ limit: 100 })
    expect(page.status === 'page' ? page.items.length : page.status).toBe(4)
    expect(await all(list)).toEqual(items)
  })

  type Write = Driver['write']
  const mishaps: Record<string, (write: Write, nth: number) => Write> = {
    'arrived twice': (write, nth) => async (call) => {
      if (nth === 2) await write(call)
      return write(call)
    },
    'never arrived': (write, nth) => (call) => (nth === 2 ? Promise.resolve(8010) : write(call)),
    'arrived, with an answer that did not': (write, nth) => async (call) => {
      const reply = await write(call)
      if (nth === 2) throw new ConnectionLostError('the answer was lost', true)
      return reply
    },
    'was overtaken': (write, nth) => async (call) => {
      if (nth === 2) await new Promise((resolve) => setTimeout(resolve, 30))
      return write(call)
    },
  }
  test.each(Object.entries(mishaps))('of which a part %s are built again, by scripts', async (_, spoil) => {
    const { redis, name, calls, client, driver } = instance()
    const write = driver.write.bind(driver)
    let writes = 0
    driver.write = (call) => spoil(write, (writes += 1))(call)
    const list = redis.collection<number>(name, { kind: 'list' })

    expect(await list.replace(upTo(9500))).toMatchObject({ status: 'replaced', size: 9500 })

    expect(await all(list)).toEqual(upTo(9500))
    expect(calls.filter((call) => call === 'collection/build')).toHaveLength(1 + 10)
    const [left = ''] = await client.keys(`*${name}*build*`)
    expect(await client.pttl(left)).toBeGreaterThan(0)
  })

  test('of a set are built again when a part never arrived', async () => {
    const { redis, name, driver } = instance()
    const write = driver.write.bind(driver)
    driver.write = (call) => (call.args.includes('2222') ? Promise.resolve(1000) : write(call))
    const set = redis.collection<number>(name, { kind: 'set' })

    await set.replace(upTo(3500))

    expect(((await all(set)) as number[]).toSorted((a, b) => a - b)).toEqual(upTo(3500))
  })

  test('replaced by two at once are those of one of them', async () => {
    const { list } = setup()
    await Promise.all([list.replace(upTo(3500)), list.replace(upTo(3500, 10_000)), list.replace(upTo(7))])
    const items = await all(list)
    expect([upTo(3500), upTo(3500, 10_000), upTo(7)]).toContainEqual(items)
  })

  test('of one version, replaced by many at once, are stored once', async () => {
    const { list } = setup()
    const done = await Promise.all(upTo(8).map(() => list.replace(upTo(2500), { version: 3 })))
    expect(done.filter(({ status }) => status === 'replaced')).toHaveLength(1)
    expect(done.filter(({ status }) => status === 'unchanged')).toHaveLength(7)
    expect(await all(list)).toEqual(upTo(2500))
  })

  test('of an older version are refused by the first call', async () => {
    const { list, calls } = setup()
    await list.replace([1], { version: 5 })
    calls.length = 0
    expect(await list.replace(upTo(5000), { version: 4 })).toEqual({ status: 'refused', version: 5 })
    expect(calls).toEqual(['collection/build'])
    expect(await all(list)).toEqual([1])
  })

  test('whose build is lost are built again', async () => {
    const { list, client, name, slowly, calls } = setup()
    slowly('collection/build', 30)
    const replacing = list.replace(upTo(2500))
    let key: string | undefined
    while (key === undefined) [key] = await client.keys(`*${name}*build*`)
    await client.del(key)
    expect(await replacing).toMatchObject({ status: 'replaced' })
    expect(calls.filter((call) => call === 'collection/build').length).toBeGreaterThan(3)
    expect(await all(list)).toEqual(upTo(2500))
  })

  test('whose build is lost again and again change nothing', async () => {
    const { list, client, name, slowly } = setup()
    await list.replace([1])
    slowly('collection/build', 20)
    const replacing = list.replace(upTo(2500)).then(
      () => 'replaced',
      (error: { code: string }) => error.code,
    )
    let over = false
    void replacing.then(() => (over = true))
    while (!over) for (const key of await client.keys(`*${name}*build*`)) await client.del(key)
    expect(await replacing).toBe('busy')
    expect(await all(list)).toEqual([1])
  })

  test('leave a build that expires by itself when their process dies', async () => {
    const { list, client, name, slowly } = setup()
    slowly('collection/build', 100)
    const replacing = list.replace(upTo(2500))
    let key: string | undefined
    while (key === undefined) [key] = await client.keys(`*${name}*build*`)
    expect(await client.pttl(key)).toBeGreaterThan(0)
    await replacing
  })
})

test('no more bytes are removed in one call than are added in one', async () => {
  const { redis, name } = instance()
  const set = redis.collection<string>(name, { kind: 'set' })
  const large = (count: number): string[] =>
    Array.from({ length: count }, (_, at) => `${at}${'x'.repeat(300_000)}`)
  await set.replace(large(4))

  await expect(set.remove(large(4))).rejects.toMatchObject({ argument: 'items' })
  expect(await set.remove(large(3))).toMatchObject({ removed: 3 })
})

test('every write enforces the limit', async () => {
  const { redis, name } = instance()
  const list = redis.collection<number>(name, { kind: 'list', limit: 3 })
  expect(await list.replace(upTo(5))).toMatchObject({ size: 3 })
  expect(await list.append([5, 6])).toEqual({ status: 'added', size: 3, added: 2, removed: 2 })
  expect(await all(list)).toEqual([4, 5, 6])
  const best = redis.collection<string>(`${name} best`, { kind: 'sortedSet', limit: 2 })
  await best.replace([
    ['a', 3],
    ['b', 1],
    ['c', 2],
  ])
  expect(await all(best)).toEqual([
    ['c', 2],
    ['a', 3],
  ])
  await best.add([['d', 9]])
  expect(await all(best)).toEqual([
    ['a', 3],
    ['d', 9],
  ])
})

test('read reports a replaced and an absent collection', async () => {
  const { list } = setup()
  expect(await list.read()).toEqual({ status: 'absent' })
  expect(await list.append([1])).toEqual({ status: 'absent' })
  await list.replace(upTo(10), { version: 1 })
  const page = await list.read({ limit: 4 })
  const after = page.status === 'page' ? (page.next ?? '') : ''
  expect(await list.read({ after, limit: 100 })).toMatchObject({ items: upTo(6, 4), next: null, gap: false })
  await list.replace([], { version: 2 })
  expect(await list.read({ after })).toEqual({ status: 'replaced', version: 2 })
  expect(await list.read()).toMatchObject({ status: 'page', items: [], size: 0 })
  expect(await list.inspect()).toMatchObject({
    exists: true,
    kind: 'list',
    size: 0,
    version: 2,
    codec: 'json',
  })
  expect([await list.clear(), await list.clear()]).toEqual([true, false])
  expect(await list.inspect()).toEqual({ exists: false })
})

test('it expires at the time set by the last replace', async () => {
  const { list } = setup()
  const before = Date.now()
  await list.replace([1], { ttl: '1h' })
  const { expiresAtMs } = (await list.inspect()) as { expiresAtMs: number }
  expect(expiresAtMs - before).toBeGreaterThan(3_500_000)
  expect(expiresAtMs - before).toBeLessThan(3_700_000)
  await list.replace([2], { ttl: '1ms' })
  await expect.poll(() => list.read()).toEqual({ status: 'absent' })
})

describe('wrong arguments are rejected by name before anything is written', () => {
  const wrong: [argument: string, call: (setup: Setup) => unknown][] = [
    ['kind', ({ redis }) => redis.collection('x', { kind: 'stack' as 'list' })],
    ['kind', ({ redis }) => redis.collection('x', {} as { kind: 'list' })],
    ['options', ({ redis }) => redis.collection('x', undefined as unknown as { kind: 'list' })],
    ['options.lasts', ({ redis }) => redis.collection('x', { kind: 'list', lasts: 1 } as { kind: 'list' })],
    ['name', ({ redis }) => redis.collection('', { kind: 'list' })],
    ['limit', ({ redis }) => redis.collection('x', { kind: 'set', limit: 3 })],
    ['limit', ({ redis }) => redis.collection('x', { kind: 'list', limit: 0 })],
    ['ttl', ({ redis }) => redis.collection('x', { kind: 'list', ttl: '0s' })],
    ['ttl', ({ list }) => list.replace([], { ttl: 'soon' as '1s' })],
    ['version', ({ list }) => list.replace([], { version: -1 })],
    ['version', ({ list }) => list.replace([], { version: 1.5 })],
    ['options.lasts', ({ list }) => list.replace([], { lasts: 1 } as object)],
    ['items', ({ list }) => list.replace('text' as unknown as number[])],
    ['items', ({ list }) => list.replace([undefined as unknown as number])],
    ['items', ({ list }) => list.append(upTo(1001))],
    ['items', ({ redis, name }) => redis.collection(name, { kind: 'list' }).replace(['x'.repeat(1_048_576)])],
    ['items', ({ redis, name }) => redis.collection(name, { kind: 'set' }).remove(upTo(1001))],
    ['field', ({ redis, name }) => redis.collection(name, { kind: 'hash' }).replace([['', 1]])],
    ['field', ({ redis, name }) => redis.collection(name, { kind: 'hash' }).remove(['x'.repeat(513)])],
    [
      'score',
      ({ redis, name }) => redis.collection(name, { kind: 'sortedSet' }).replace([['a', Number.NaN]]),
    ],
    ['score', ({ redis, name }) => redis.collection(name, { kind: 'sortedSet' }).add([['a', Infinity]])],
    ['limit', ({ list }) => list.read({ limit: 1001 })],
    ['after', ({ list }) => list.read({ after: '0-1' })],
    ['after', ({ list }) => list.read({ after: '' })],
    ['after', ({ list }) => list.read({ after: '1-18446744073709551616' })],
    ['kind', ({ redis, name }) => redis.collection(name, { kind: 'hash' }).read()],
    ['kind', ({ redis, name }) => redis.collection(name, { kind: 'set' }).replace(upTo(2500))],
  ]
  test.each(wrong)('%s', async (argument, call) => {
    const made = setup()
    await made.list.replace([1])
    const error = await Promise.resolve(made)
      .then(call)
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(InvalidArgumentError)
    expect((error as InvalidArgumentError).argument).toBe(argument)
    expect(await all(made.list)).toEqual([1])
  })

  test('items that are not pairs', async () => {
    const { redis, name } = instance()
    const hash = redis.collection<number>(name, { kind: 'hash' })
    await expect(hash.replace({ a: 1 } as never)).rejects.toMatchObject({ argument: 'items' })
    await expect(hash.replace([1] as never)).rejects.toMatchObject({ argument: 'items' })
  })
})

test('items with equal stored forms are stored once each', async () => {
  const { redis, name } = instance()
  const codec = {
    name: 'raw',
    encode: (value: string | Buffer) => value,
    decode: (stored: Buffer) => String(stored),
  }
  const set = redis.collection<string | Buffer>(name, { kind: 'set', codec })
  const many = Array.from({ length: 1500 }, (_, n) => `v${n}`)

  const replaced = await set.replace([...many, Buffer.from('v1'), '\ud800', '\ud801', Buffer.from([0xff])])

  expect(replaced).toMatchObject({ status: 'replaced', size: 1502 })
})
