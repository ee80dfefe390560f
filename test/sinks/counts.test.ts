// The promises of counted rows to their readers, on each database.
import { describe, expect, test } from 'vitest'
import type { Column } from '../../src/sinks/sql/dialect.ts'
import { SQLITE_COUNTS } from '../../src/sinks/sqlite/counts.ts'
import {
  backlog,
  makeVotes,
  openMariadbOfNulls,
  postgresAlone,
  read,
  recount,
  rollUp,
  rollUpAll,
  VOTES,
  voteFor,
} from './counts-fixture.ts'
import { ITEMS, patiently, stored } from './fixture.ts'
import { openMariadb, openSqlite } from './places.ts'

const openPostgres = postgresAlone()

describe.each([
  { name: 'sqlite', open: openSqlite },
  { name: 'postgres', open: openPostgres },
  { name: 'mariadb', open: openMariadb },
  { name: 'mariadb, marked from NULL', open: openMariadbOfNulls },
])('events in $name', ({ open }) => {
  async function setup() {
    const place = await open()
    await makeVotes(place)
    return { place, votes: place.events(VOTES) }
  }

  test('are counted once, and reported before and after they are', async () => {
    const { place, votes } = await setup()
    await place.run('INSERT INTO items VALUES (1, 40)')
    await place.run(voteFor(1, 'ada bob'))
    await place.run(voteFor(2, 'cyd', 5))

    expect(await votes.read('test:votes', ['1', '2', '3'])).toEqual({
      version: 0,
      values: new Map([
        ['1', 42n],
        ['2', 5n],
        ['3', 0n],
      ]),
    })
    expect(await rollUp(votes)).toEqual({
      version: expect.any(Number) as number,
      since: 0,
      refused: [],
      events: 3,
      more: false,
      until: '',
      values: new Map([
        ['1', 42n],
        ['2', 5n],
      ]),
    })
    expect(await stored(place, 'items')).toEqual({ 1: '42', 2: '5' })
    expect(await read(votes, '1', '2')).toEqual({ 1: 42, 2: 5 })
  })

  test('are counted once when one transaction has many', async () => {
    const { place, votes } = await setup()
    const voters = Array.from({ length: 1201 }, (_, at) => `voter-${at}`)
    await place.run(voteFor(1, voters.join(' ')))

    expect(await rollUp(votes, [], 5000)).toMatchObject({ events: 1201, values: new Map([['1', 1201n]]) })
    expect(await rollUp(votes, [], 5000)).toMatchObject({ events: 0 })
    expect(await stored(place, 'items')).toEqual({ 1: '1201' })
  })

  test('are left alone when none is new, and no version is made', async () => {
    const { place, votes } = await setup()
    expect(await rollUp(votes)).toMatchObject({ version: 0, since: 0, events: 0 })
    await place.run(voteFor(1, 'ada'))
    const { version } = await rollUp(votes)

    expect(version).toBeGreaterThan(0)
    expect(await rollUp(votes)).toMatchObject({ version, since: version, events: 0, more: false })
    expect(await rollUp(votes, ['1', '9'])).toMatchObject({
      since: version,
      values: new Map([
        ['1', 1n],
        ['9', 0n],
      ]),
    })
  })

  test('are taken in batches', async () => {
    const { place, votes } = await setup()
    for (const voter of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) await place.run(voteFor(1, voter))

    expect(await rollUp(votes, [], 3)).toMatchObject({ events: 3, more: true, values: new Map([['1', 7n]]) })
    expect(await stored(place, 'items')).toEqual({ 1: '3' })
    expect(await read(votes, '1')).toEqual({ 1: 7 })
    expect(await backlog(votes)).toMatchObject({ rows: 4 })
    expect(await rollUpAll(votes, 3)).toBe(4)
    expect(await stored(place, 'items')).toEqual({ 1: '7' })
  })

  test('that arrive while others are taken do not prolong the roll-up', async () => {
    const { place, votes } = await setup()
    for (const voter of ['a', 'b', 'c', 'd', 'e']) await place.run(voteFor(1, voter))

    const first = await rollUp(votes, [], 2)
    for (const voter of ['f', 'g', 'h', 'i']) await place.run(voteFor(1, voter))
    const second = await rollUp(votes, [], 2, first.until)
    const third = await rollUp(votes, [], 2, second.until)

    expect([first, second, third].map(({ events, more }) => [events, more])).toEqual([
      [2, true],
      [2, true],
      [2, false],
    ])
    expect(second.until).toBe(first.until)
    expect(await backlog(votes)).toMatchObject({ rows: 3 })
    expect(await rollUp(votes, [], 3)).toMatchObject({ events: 3, more: false, until: '' })
  })

  test('of one transaction are counted together, however many they are', async () => {
    const { place, votes } = await setup()
    await place.run(voteFor(1, Array.from({ length: 50 }, (_, at) => `v${at}`).join(' ')))
    await place.run(voteFor(1, 'late'))

    expect(await rollUpAll(votes, 10)).toBe(51)
    expect(await stored(place, 'items')).toEqual({ 1: '51' })
  })

  test('count once when several roll up at the same time', async () => {
    const { place } = await setup()
    const sources = [place.events(VOTES), place.events(VOTES), place.events(VOTES)]
    for (const source of sources) await source.prepare()
    let voters = 0
    for (let round = 0; round < 5; round++) {
      const more = Array.from({ length: 20 }, () => `v${voters++}`)
      await place.run(voteFor(round % 2, more.join(' ')))
      await Promise.all(sources.map((source) => patiently(() => rollUp(source, [], 7))))
    }
    await rollUpAll(sources[0] as (typeof sources)[0])

    expect(await stored(place, 'items')).toEqual({ 0: '60', 1: '40' })
  })

  test('that the unique key rejects count nothing', async () => {
    const { place, votes } = await setup()
    await place.run(voteFor(1, 'ada'))
    await rollUp(votes)

    await expect(place.run(voteFor(1, 'ada'))).rejects.toThrow()
    await place.run(voteFor(1, 'bob', -3))

    expect(await rollUpAll(votes)).toBe(1)
    expect(await stored(place, 'items')).toEqual({ 1: '-2' })
  })

  test('of missing rows are taken, and counted nowhere, when rows are not created', async () => {
    const { place } = await setup()
    const votes = place.events({ ...VOTES, target: { ...VOTES.target, missing: 'refuse' } })
    await place.run('INSERT INTO items VALUES (1, 0)')
    await place.run(voteFor(1, 'ada'))
    await place.run(voteFor(2, 'bob'))
    await place.run("INSERT INTO votes (item, voter) VALUES (NULL, 'eve')")

    expect(await read(votes, '1', '2')).toEqual({ 1: 1 })
    expect(await rollUp(votes)).toMatchObject({ events: 3, values: new Map([['1', 1n]]) })
    expect(await stored(place, 'items')).toEqual({ 1: '1' })
  })

  test('are counted again where the count was changed by hand', async () => {
    const { place, votes } = await setup()
    await place.run(voteFor(1, 'ada bob'))
    await place.run(voteFor(2, 'cyd'))
    await rollUpAll(votes)
    await place.run('UPDATE items SET votes = 900')
    await place.run(voteFor(1, 'dan'))

    const { values } = await recount(votes, ['1', '3'])

    expect(values).toEqual(
      new Map([
        ['1', 3n],
        ['3', 0n],
      ]),
    )
    await rollUpAll(votes)
    expect(await stored(place, 'items')).toMatchObject({ 1: '3', 2: '900' })
  })

  test('count 1 each without a column of amounts, and report their age by a column of times', async () => {
    const place = await open()
    await makeVotes(place, ', at TIMESTAMP DEFAULT CURRENT_TIMESTAMP')
    const votes = place.events({ table: 'votes', id: 'item', at: 'at', target: VOTES.target })
    expect(await backlog(votes)).toEqual({ rows: 0, ageMs: null })

    await place.run(voteFor(1, 'ada bob', 7))

    expect(await backlog(votes)).toEqual({ rows: 2, ageMs: expect.any(Number) })
    expect((await rollUp(votes)).values).toEqual(new Map([['1', 2n]]))
  })

  test('of an id that cannot be in the table are rejected when it is requested, and stop no roll-up', async () => {
    const { place, votes } = await setup()
    await place.run(voteFor(1, 'ada'))
    await rollUp(votes)

    expect(await read(votes, '1')).toEqual({ 1: 1 })
    await expect(votes.read('test:votes', ['1', 'x'])).rejects.toMatchObject({ code: 'invalid-argument' })
    expect(await rollUp(votes, ['1', 'x'])).toMatchObject({ values: new Map([['1', 1n]]) })
  })

  test('of an id that the table of the counts cannot have are taken, and change nothing else', async () => {
    const place = await open()
    await makeVotes(place, '', 'VARCHAR(40)')
    const votes = place.events(VOTES)
    await place.run('INSERT INTO items VALUES (7, 40)')
    await place.run(voteFor("'1'", 'ada'))
    await place.run(voteFor("'x'", 'bob'))
    await place.run(voteFor("'-1 OR id = 7'", 'cyd'))

    expect(await rollUp(votes)).toMatchObject({ events: 3, values: new Map([['1', 1n]]) })
    expect(await rollUp(votes)).toMatchObject({ events: 0 })
    expect(((await votes.refused?.('test:votes')) ?? []).map(({ id }) => id).toSorted()).toEqual([
      '-1 OR id = 7',
      'x',
    ])
    expect(await read(votes, '1', '7')).toEqual({ 1: 1, 7: 40 })
    expect(await stored(place, 'items')).toEqual({ 1: '1', 7: '40' })
  })

  test('need a suitable table, and name what it lacks before anything is done', async () => {
    const { place } = await setup()
    const prepare = (options: object) => place.events({ ...VOTES, ...options }).prepare()
    await place.run('CREATE TABLE plain (id INTEGER PRIMARY KEY, item BIGINT, tx BIGINT, counted BIGINT)')

    await expect(prepare({ table: 'likes' })).rejects.toMatchObject({
      code: 'sink-misconfigured',
      message: 'the table likes does not exist',
    })
    await expect(prepare({ id: 'thing' })).rejects.toThrow('the table votes has no column thing')
    await expect(prepare({ amount: 'sum' })).rejects.toThrow('the table votes has no column sum')
    await expect(prepare({ amount: 'voter' })).rejects.toThrow(
      /the column voter of votes is .*, not an integer/,
    )
    await expect(prepare({ at: 'time' })).rejects.toThrow('the table votes has no column time')
    await expect(prepare({ table: 'plain', amount: undefined })).rejects.toThrow(
      /^the (column (tx|counted) of plain is not|table plain has no key INTEGER)/,
    )
    await expect(prepare({ target: { table: 'items' } })).rejects.toThrow(
      'the table items has no column value',
    )
    expect(() => place.events({ ...VOTES, id: 'a b' })).toThrow('id must be a plain name')
    expect(() => place.events({ ...VOTES, amuont: 'x' } as never)).toThrow('options.amuont is not known')
    expect(() => place.events({ ...VOTES, target: undefined } as never)).toThrow('target must be an object')
    expect(() => place.events({ ...VOTES, target: { table: '?' } })).toThrow('target.table must be a plain')
  })
})

test('SQLite reads only the requested waiting rows when their column has an index', async () => {
  const place = await openSqlite()
  await makeVotes(place)
  await place.events(VOTES).prepare()
  await place.run('CREATE INDEX votes_item ON votes (item)')
  const found = { schema: 'main', location: '' }
  const idColumn = {} as Column
  const target = { ...ITEMS, id: 'id', missing: 'create' as const, isNumbered: false, idColumn }
  const { sql, values } = SQLITE_COUNTS.values(
    { ...target, found: { ...found, name: 'items' } },
    {
      ...SQLITE_COUNTS.eventsOf(VOTES),
      found: { ...found, name: 'votes' },
      idColumn,
      isMarkedFromZero: false,
      stamped: [],
    },
    'test:votes',
    ['1'],
    '0',
  )

  const plan = place
    .open()
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...values) as { detail: string }[]

  expect(plan.map(({ detail }) => detail)).toContainEqual(
    expect.stringMatching(/^SEARCH e USING INDEX votes_item \(item=\? AND rowid>\?\)$/),
  )
})
