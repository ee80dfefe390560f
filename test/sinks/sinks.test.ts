// The promises of a sink to a flush, on each database.
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { batchOf, begin, ITEMS, makeTables, patiently, stored, WORDS } from './fixture.ts'
import { openMariadb, openPostgres, openSqlite } from './places.ts'

const AWKWARD = ['plain', `a'b"c\\d`, '%_', 'zwölf 🌘', '', '?', '$1', ':name', '--', '; DROP TABLE words']

describe.each([
  { name: 'sqlite', open: openSqlite },
  { name: 'postgres', open: openPostgres },
  { name: 'mariadb', open: openMariadb },
])('a sink of $name', ({ open }) => {
  async function setup() {
    const place = await open()
    await makeTables(place)
    return { place, items: place.sink(ITEMS), words: place.sink(WORDS) }
  }

  test('is prepared any number of times, by many at once', async () => {
    const { place } = await setup()
    const sinks = Array.from({ length: 8 }, () => place.sink(ITEMS))

    await Promise.all(sinks.map((sink) => patiently(() => sink.prepare())))
    await sinks[0]?.prepare()
    await place.sink(ITEMS).prepare()

    expect(await place.run('SELECT * FROM perilune_ledger')).toEqual([])
  })

  test('names the missing table or column', async () => {
    const { place } = await setup()
    const prepare = (target: { table: string; id?: string; value?: string }) => place.sink(target).prepare()

    await expect(prepare({ table: 'votes' })).rejects.toMatchObject({
      code: 'sink-misconfigured',
      message: 'the table votes does not exist',
    })
    await expect(prepare({ table: 'items' })).rejects.toThrow('the table items has no column value')
    await expect(prepare({ ...ITEMS, id: 'key' })).rejects.toThrow('the table items has no column key')
  })

  test('works once the table exists', async () => {
    const { place } = await setup()
    const sink = place.sink({ ...ITEMS, table: 'late' })
    await expect(sink.prepare()).rejects.toThrow('the table late does not exist')

    await place.run('CREATE TABLE late (id BIGINT PRIMARY KEY, votes BIGINT NOT NULL)')

    await sink.prepare()
  })

  test('rejects a key that may occur twice, and a count that is no integer of 64 bits', async () => {
    const { place } = await setup()
    await place.run('CREATE TABLE loose (id BIGINT, part BIGINT, votes BIGINT, PRIMARY KEY (id, part))')
    await place.run('CREATE TABLE rough (id BIGINT PRIMARY KEY, votes DOUBLE PRECISION)')

    await expect(place.sink({ ...ITEMS, table: 'loose' }).prepare()).rejects.toThrow(
      'the column id of loose has no unique index of its own',
    )
    await expect(place.sink({ ...ITEMS, table: 'rough' }).prepare()).rejects.toThrow(
      /the column votes of rough is double.*, not a signed integer of 64 bits/i,
    )
  })

  test('accepts any key with a unique index of its own, and names that are SQL keywords', async () => {
    const { place } = await setup()
    const [quoted, into] = place.quoted('order', 'group')
    await place.run(`CREATE TABLE ${quoted} (at BIGINT PRIMARY KEY, ${into} VARCHAR(9) UNIQUE, votes BIGINT)`)
    await place.run(`INSERT INTO ${quoted} VALUES (1, 'x', 5)`)
    const sink = place.sink({ table: 'order', id: 'group', value: 'votes', missing: 'refuse' })
    const ledger = await begin(sink)

    await sink.apply(batchOf(ledger, 1, { x: 2, y: 2 }))

    expect((await sink.read(ledger, ['x', 'y'])).values).toEqual(new Map([['x', 7n]]))
  })

  test('reads values and the ledger, exact beyond 2^53', async () => {
    const { place, items } = await setup()
    await place.run(
      'INSERT INTO items VALUES (9007199254740993, 9007199254740993), (-5, -9223372036854775808)',
    )
    const ledger = await begin(items)

    const snapshot = await items.read(ledger, ['9007199254740993', '-5', '9007199254740992'])

    expect(snapshot).toEqual({
      seq: 0,
      values: new Map([
        ['9007199254740993', 9007199254740993n],
        ['-5', -(2n ** 63n)],
      ]),
    })
  })

  test('knows no epoch that was not begun, and still reads values', async () => {
    const { place, items } = await setup()
    await place.run('INSERT INTO items VALUES (1, 2)')

    const place2 = { counters: 'test:other', partition: 3, epoch: 7 }
    expect(await items.read(place2, ['1'])).toEqual({ seq: null, values: new Map([['1', 2n]]) })
    expect(await items.read(place2, [])).toEqual({ seq: null, values: new Map() })
  })

  test('keeps ids of text unchanged, whatever SQL makes of them', async () => {
    const { place, words } = await setup()
    const ledger = await begin(words)

    await words.apply(batchOf(ledger, 1, Object.fromEntries(AWKWARD.map((id, at) => [id, at + 1]))))
    await words.apply(batchOf(ledger, 2, Object.fromEntries(AWKWARD.map((id) => [id, 100]))))

    const expected = AWKWARD.map((id, at): [string, bigint] => [id, BigInt(at + 101)])
    expect((await words.read(ledger, AWKWARD)).values).toEqual(new Map(expected))
    expect(await stored(place, 'words')).toEqual(
      Object.fromEntries(expected.map(([id, value]) => [id, String(value)])),
    )
  })

  test.each(['', 'one', '1.5', '007', '9223372036854775808', '1e3', '-0'])(
    'rejects %j when ids are integers, before anything is counted for it, and after',
    async (id) => {
      const { items } = await setup()
      const ledger = await begin(items)
      const batch = batchOf(ledger, 1, { 1: 1, [id]: 1 })

      await expect(items.read(ledger, ['1', id])).rejects.toMatchObject({ code: 'invalid-argument' })
      expect(await items.apply(batch)).toMatchObject({ refused: [{ id, delta: 1n }] })
      expect(await items.refused?.(ledger.counters)).toMatchObject([{ id, delta: 1n }])
      expect((await items.read(ledger, ['1'])).values).toEqual(new Map([['1', 1n]]))
    },
  )

  test('reads a batch together with its line in the ledger, or neither', async () => {
    const { place, items } = await setup()
    const ledger = await begin(items)
    const reader = place.sink(ITEMS)
    const batches = Array.from({ length: 30 }, (_, at) => batchOf(ledger, at + 1, { 1: 1, 2: 1 }))
    let isDone = false
    const flush = async (): Promise<void> => {
      for (const batch of batches) await patiently(() => items.apply(batch))
      isDone = true
    }
    const flushing = flush()

    while (!isDone) {
      const { seq, values } = await patiently(() => reader.read(ledger, ['1', '2']))
      const seen = BigInt(seq ?? -1)
      expect([values.get('1') ?? 0n, values.get('2') ?? 0n]).toEqual([seen, seen])
      await turn() // SQLite answers at once, and would never let the flush begin
    }

    await flushing
  })

  test('begins another epoch for each caller, twenty at once', async () => {
    const { items } = await setup()

    const epochs = await Promise.all(Array.from({ length: 20 }, () => items.begin('test:epochs', 4)))

    expect(new Set(epochs).size).toBe(20)
    expect(epochs.every((epoch) => Number.isSafeInteger(epoch) && epoch > 0)).toBe(true)
    expect(await items.begin('test:epochs', 4)).toBeGreaterThan(Math.max(...epochs))
  })

  test('applies a batch once, and recognises it afterwards', async () => {
    const { place, items } = await setup()
    const ledger = await begin(items)
    const batch = batchOf(ledger, 1, { 1: 5, 2: -3 })

    expect(await items.apply(batch)).toBe('applied')
    expect(await items.apply(batch)).toBe('known')

    expect(await stored(place, 'items')).toEqual({ 1: '5', 2: '-3' })
    expect((await items.read(ledger, [])).seq).toBe(1)
  })

  test('changes nothing for a batch whose place is taken, or that lacks its predecessor', async () => {
    const { place, items } = await setup()
    const ledger = await begin(items)
    await items.apply(batchOf(ledger, 1, { 1: 5 }))

    expect(await items.apply(batchOf(ledger, 1, { 1: 7 }))).toBe('ahead')
    expect(await items.apply(batchOf(ledger, 3, { 1: 7 }))).toBe('behind')
    expect(await items.apply(batchOf({ ...ledger, epoch: ledger.epoch + 1 }, 1, { 1: 7 }))).toBe('behind')

    expect(await stored(place, 'items')).toEqual({ 1: '5' })
  })

  test('keeps epochs and partitions apart: a late batch of an old epoch is applied', async () => {
    const { place, items } = await setup()
    const old = await begin(items)
    const now = { ...old, epoch: await items.begin(old.counters, 0) }
    const other = { ...old, partition: 1, epoch: await items.begin(old.counters, 1) }

    for (const ledger of [now, other, old]) {
      expect(await items.apply(batchOf(ledger, 1, { 1: 1 }))).toBe('applied')
    }

    expect(await stored(place, 'items')).toEqual({ 1: '3' })
  })

  test('applies no batch of a closed epoch, nor of earlier ones, and still knows which it has', async () => {
    const { place, items } = await setup()
    const first = await begin(items)
    const [old, sealed] = [batchOf(first, 1, { 1: 1 }), batchOf(first, 2, { 1: 20 })]
    const second = { ...first, epoch: await items.begin(first.counters, 0, first.epoch) }
    const third = { ...first, epoch: await items.begin(first.counters, 0, second.epoch) }
    await items.apply(old)

    expect(await items.close(second)).toEqual({ seq: 0, batch: '' })
    expect(await items.close(first)).toEqual({ seq: 1, batch: old.batch })
    expect(await items.close({ ...first, epoch: first.epoch + 1 })).toBe(null)

    expect(await items.apply(old)).toBe('known')
    expect(await items.apply(sealed)).toBe('behind')
    expect(await items.apply(batchOf(second, 1, { 1: 300 }))).toBe('behind')
    expect(await items.read(first, ['1'])).toEqual({ seq: 1, values: new Map([['1', 1n]]) })
    expect(await items.standing?.(first)).toEqual({ seq: 1 })
    expect(await items.hasBatches?.(first.counters, 0)).toBe(true)
    expect(await items.apply(batchOf(third, 1, { 1: 4000 }))).toBe('applied')
    expect(await items.apply(sealed)).toBe('ahead')
    expect(await stored(place, 'items')).toEqual({ 1: '4001' })
  })

  test('takes an epoch that it does not know for a past one once a later one has batches', async () => {
    const { items } = await setup()
    const ledger = await begin(items)
    const lost = { ...ledger, epoch: ledger.epoch + 1 }
    const later = { ...ledger, epoch: await items.begin(ledger.counters, 0, lost.epoch + 10) }
    expect(later.epoch).toBeGreaterThan(lost.epoch + 10)

    expect(await items.apply(batchOf(lost, 1, { 1: 1 }))).toBe('behind')
    expect(await items.standing?.(lost)).toEqual({ seq: null })
    await items.apply(batchOf(later, 1, { 1: 1 }))

    expect(await items.apply(batchOf(lost, 1, { 1: 1 }))).toBe('ahead')
    expect(await items.standing?.(lost)).toEqual({ seq: null, isPast: true })
    expect(await items.read(lost, [])).toEqual({ seq: null, isPast: true, values: new Map() })
  })

  test('applies a batch once when two apply it at the same time', async () => {
    const { place } = await setup()
    const sinks = [place.sink(ITEMS), place.sink(ITEMS)]
    const ledger = await begin(sinks[0] as (typeof sinks)[0])

    for (let seq = 1; seq <= 10; seq++) {
      const batch = batchOf(ledger, seq, { 1: 1, 2: 2 })
      const both = await Promise.all(sinks.map((sink) => patiently(() => sink.apply(batch))))
      expect(both).toEqual(expect.arrayContaining(['applied', 'known']))
    }

    expect(await stored(place, 'items')).toEqual({ 1: '10', 2: '20' })
  })

  test('applies batches of many partitions to the same rows', async () => {
    const { place, items } = await setup()
    await items.prepare()
    const flush = async (partition: number): Promise<void> => {
      const ledger = {
        counters: 'test:partitions',
        partition,
        epoch: await items.begin('test:partitions', partition),
      }
      for (let seq = 1; seq <= 5; seq++) {
        const batch = batchOf(ledger, seq, { 1: 1, 2: 1, 3: 1, [String(100 + partition)]: 1 })
        await patiently(() => items.apply(batch))
      }
    }

    await Promise.all(Array.from({ length: 8 }, (_, partition) => flush(partition)))

    const own = Object.fromEntries(Array.from({ length: 8 }, (_, partition) => [100 + partition, '5']))
    expect(await stored(place, 'items')).toEqual({ 1: '40', 2: '40', 3: '40', ...own })
  })

  test('creates no missing rows when so configured, and reports them', async () => {
    const { place } = await setup()
    const sink = place.sink({ ...ITEMS, missing: 'refuse' })
    await place.run('INSERT INTO items VALUES (1, 10)')
    const ledger = await begin(sink)

    expect(await sink.apply(batchOf(ledger, 1, { 1: -4, 2: 4 }))).toMatchObject({
      refused: [{ id: '2', delta: 4n }],
    })

    expect(await stored(place, 'items')).toEqual({ 1: '6' })
  })

  test.each(['create', 'refuse'] as const)(
    'applies changes of 1,000 counters in one batch (%s)',
    async (missing) => {
      const { place } = await setup()
      const sink = place.sink({ ...WORDS, missing })
      const ledger = await begin(sink)
      const ids = Array.from({ length: 1000 }, (_, at) => `word-${at}`)
      const rows = ids.map((id) => `('${id}', ${2n ** 53n})`)
      await place.run(`INSERT INTO words VALUES ${rows.join(', ')}`)

      const batch = batchOf(ledger, 1, Object.fromEntries(ids.map((id, at) => [id, at % 2 === 0 ? 1 : -1])))
      expect(await sink.apply(batch)).toBe('applied')

      const { values } = await sink.read(ledger, ids)
      expect([...values.values()].filter((value) => value === 2n ** 53n + 1n)).toHaveLength(500)
      expect([...values.values()].filter((value) => value === 2n ** 53n - 1n)).toHaveLength(500)
    },
  )

  test('accepts a change of 63 bits, and keeps changes that would leave the range', async () => {
    const { place, items } = await setup()
    const ledger = await begin(items)
    await items.apply(batchOf(ledger, 1, { 1: 2n ** 63n - 1n, 2: -(2n ** 63n) }))

    expect(await items.apply(batchOf(ledger, 2, { 2: 1, 1: 1 }))).toMatchObject({
      refused: [{ id: '1', delta: 1n }],
    })

    expect(await stored(place, 'items')).toEqual({ 1: String(2n ** 63n - 1n), 2: String(-(2n ** 63n) + 1n) })
    expect(await items.read(ledger, ['1'])).toEqual({ seq: 2, values: new Map([['1', 2n ** 63n]]) })
  })
})
