// Rows that a database refuses, skips, or has no count in: their changes are kept and named, and all others are
// written.
import { describe, expect, test } from 'vitest'
import { makeVotes, postgresAlone, read, recount, rollUp, VOTES, voteFor } from './counts-fixture.ts'
import { batchOf, begin, ITEMS, type Ledger, stored, WORDS } from './fixture.ts'
import { openMariadb, openSqlite, type Place } from './places.ts'

const openPostgres = postgresAlone()
const COUNTERS = 'test:votes'

const DATABASES = [
  { name: 'sqlite', open: openSqlite as () => Promise<Place> },
  { name: 'postgres', open: openPostgres as () => Promise<Place> },
  { name: 'mariadb', open: openMariadb as () => Promise<Place> },
]

describe.each(DATABASES)('in $name', ({ open }) => {
  async function setup(missing: 'create' | 'refuse' = 'create') {
    const place = await open()
    await makeVotes(place, '', 'VARCHAR(40)')
    await place.run('CREATE TABLE checked (id BIGINT PRIMARY KEY, votes BIGINT CHECK (votes >= 0))')
    const checked = { ...ITEMS, table: 'checked', missing } as const
    return { place, checked }
  }

  test.each(['create', 'refuse'] as const)('a count that is NULL counts as 0 (%s)', async (missing) => {
    const { place, checked } = await setup(missing)
    await place.run('INSERT INTO checked (id) VALUES (1), (2)')
    const sink = place.sink(checked)
    const ledger = await begin(sink)

    expect((await sink.read(ledger, ['1', '2'])).values).toEqual(new Map([['1', 0n], ['2', 0n]])) // biome-ignore format: a table
    expect(await sink.apply(batchOf(ledger, 1, { 1: 5 }))).toBe('applied')
    expect((await sink.read(ledger, ['1'])).values).toEqual(new Map([['1', 5n]]))

    const votes = place.events({ ...VOTES, target: checked })
    await place.run(voteFor(2, 'ada bob'))
    expect(await read(votes, '2')).toEqual({ 2: 2 })
    expect(await rollUp(votes)).toMatchObject({ events: 2, refused: [] })
    await recount(votes, ['2'])
    expect(await stored(place, 'checked')).toEqual({ 1: '5', 2: '2' })
  })

  test('a row that is rejected is kept with its reason, and all others are written', async () => {
    const { place, checked } = await setup()
    const sink = place.sink(checked)
    const ledger = await begin(sink)
    const deltas = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [at, at % 20 === 7 ? -1 : 1]))

    await place.run('INSERT INTO checked VALUES (9, 100)')
    const applied = await sink.apply(batchOf(ledger, 1, { ...deltas, 9: -30 }))
    expect(applied).toMatchObject({ refused: [{ delta: -1n }, { delta: -1n }, { delta: -1n }] })
    await sink.apply(batchOf(ledger, 2, { 7: -2, 8: 1 }))

    const kept = (await sink.refused?.(ledger.counters)) ?? []
    expect(kept.toSorted((a, b) => Number(a.id) - Number(b.id))).toMatchObject([
      { id: '7', delta: -3n, why: expect.stringMatching(/check|constraint/i) as string },
      { id: '27', delta: -1n },
      { id: '47', delta: -1n },
    ])
    expect(await stored(place, 'checked')).toMatchObject({ 8: '2', 9: '70' })
    expect(Object.keys(await stored(place, 'checked'))).toHaveLength(47)
    expect((await sink.read(ledger, ['7', '8'])).values).toEqual(new Map([['7', -3n], ['8', 2n]])) // biome-ignore format: a table
  })

  test('a refused change is written once the database accepts it, and once only', async () => {
    const { place, checked } = await setup()
    const sink = place.sink(checked)
    const ledger = await begin(sink)
    await sink.apply(batchOf(ledger, 1, { 1: -2, 2: -9 }))
    expect(await sink.retryRefused?.(ledger.counters)).toBe(true)

    await place.run('INSERT INTO checked VALUES (1, 10)')
    const retry = async (): Promise<unknown> => place.sink(checked).retryRefused?.(ledger.counters)
    await Promise.allSettled([retry(), retry()])

    expect(await stored(place, 'checked')).toEqual({ 1: '8' })
    expect(await sink.refused?.(ledger.counters)).toMatchObject([{ id: '2', delta: -9n }])
    expect((await sink.read(ledger, ['1'])).values).toEqual(new Map([['1', 8n]]))
  })

  test('a missing row is named, and gets its whole sum once it exists', async () => {
    const { place } = await setup()
    const target = { ...WORDS, missing: 'refuse' } as const
    const votes = place.events({ ...VOTES, target })
    await place.run("INSERT INTO words VALUES ('b', 1)")
    await place.run(voteFor("'a'", 'ada bob'))
    await place.run(voteFor("'b'", 'cyd'))

    expect(await rollUp(votes)).toMatchObject({
      events: 3,
      values: new Map([['b', 2n]]),
      refused: [{ id: 'a', delta: 2n }],
    })
    expect(await read(votes, 'a', 'b')).toEqual({ b: 2 })
    await place.run("INSERT INTO words VALUES ('a', 0)")
    expect(await read(votes, 'a')).toEqual({ a: 2 })
    expect(await votes.retryRefused?.(COUNTERS)).toBe(false)
    await recount(votes, ['a', 'b'])

    expect(await stored(place, 'words')).toEqual({ a: '2', b: '1' })
  })

  test('a change of the outbox waits for its row', async () => {
    const { place } = await setup()
    const outbox = place.outbox({ ...ITEMS, missing: 'refuse' })
    await outbox.prepare()
    const session = await place.session()
    await session.run('BEGIN')
    await outbox.add(session.client, COUNTERS, { id: '6', by: 3, idempotencyKey: 'k' })
    await session.run('COMMIT')

    expect(await rollUp(outbox)).toMatchObject({ events: 1, refused: [{ id: '6', delta: 3n }] })
    await place.run('INSERT INTO items VALUES (6, 1)')
    expect(await outbox.retryRefused?.(COUNTERS)).toBe(false)

    expect(await stored(place, 'items')).toEqual({ 6: '4' })
    expect(await outbox.refused?.(COUNTERS)).toEqual([])
  })

  test('ids that are one row to the database are read, and counted, as that row', async () => {
    const place = await open()
    const type = { sqlite: 'TEXT COLLATE NOCASE', mariadb: 'VARCHAR(9)', postgres: 'char(9)' }[place.name]
    const [one, other] = place.name === 'postgres' ? ['ada', 'ada '] : ['ada', 'Ada']
    await place.run(`CREATE TABLE words (id ${type} PRIMARY KEY, votes BIGINT NOT NULL DEFAULT 0)`)
    await place.run("INSERT INTO words VALUES ('ada', 10)")
    for (const [missing, start] of [
      ['create', 10n],
      ['refuse', 16n],
    ] as const) {
      // biome-ignore format: a table
      const sink = place.sink({ ...WORDS, missing })
      const ledger = await begin(sink)
      const both = async () => (await sink.read(ledger, [one, other])).values

      expect(await both()).toEqual(new Map([[one, start], [other, start]])) // biome-ignore format: a table
      expect(await sink.apply(batchOf(ledger, 1, { [one]: 1, [other]: 5 }))).toBe('applied')
      expect(await both()).toEqual(new Map([[one, start + 6n], [other, start + 6n]])) // biome-ignore format: a table
    }
  })

  test('a ledger keeps few epochs without a batch, and reports what it forgets of others', async () => {
    const { place } = await setup()
    const sink = place.sink(ITEMS)
    const first = await begin(sink)
    const epochs: Ledger[] = [first]
    for (let at = 0; at < 20; at++) epochs.push({ ...first, epoch: await sink.begin(first.counters, 0) })

    const rows = await place.run('SELECT epoch FROM perilune_ledger ORDER BY epoch')
    expect(rows.map(({ epoch }) => Number(epoch))).toEqual(epochs.slice(-8).map(({ epoch }) => epoch))
    expect(await sink.hasBatches?.(first.counters, 0)).toBe(false)
    expect(await sink.read(first, [])).toEqual({ seq: null, values: new Map() })

    const old = epochs.at(-1) as Ledger
    await sink.apply(batchOf(old, 1, { 1: 1 }))
    for (let at = 0; at < 100; at++) {
      const ledger = { ...first, epoch: await sink.begin(first.counters, 0) }
      await sink.apply(batchOf(ledger, 1, { 1: 1 }))
    }
    await sink.begin(first.counters, 0)

    expect(await sink.hasBatches?.(first.counters, 0)).toBe(true)
    expect(await sink.read(old, [])).toMatchObject({ seq: null, isPast: true })
    expect(await sink.apply(batchOf(old, 2, { 1: 1 }))).toBe('ahead')
    expect(await place.run('SELECT epoch FROM perilune_ledger')).toHaveLength(108)
  })
})
