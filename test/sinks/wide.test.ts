// Sums that leave 64 bits: they are rejected by name whatever the database would make of them, and do not block other
// sums.
import { describe, expect, test } from 'vitest'
import { makeVotes, postgresAlone, recount, rollUp, VOTES } from './counts-fixture.ts'
import { batchOf, begin, ITEMS, makeTables, stored } from './fixture.ts'
import { openMariadb, openSqlite, type Place } from './places.ts'

const COUNTERS = 'test:votes'
const MUCH = 5_000_000_000_000_000_000n

describe.each([
  { name: 'sqlite', open: openSqlite as () => Promise<Place> },
  { name: 'postgres', open: postgresAlone() as () => Promise<Place> },
  { name: 'mariadb', open: openMariadb as () => Promise<Place> },
])('in $name', ({ open }) => {
  test.each([1n, -1n])(
    'rows whose sum is too large are kept and reported, and others are counted (%s)',
    async (sign) => {
      const place = await open()
      await makeVotes(place)
      await place.run('DROP TABLE votes')
      await place.run(`CREATE TABLE votes (${place.eventColumns}, item BIGINT, points BIGINT NOT NULL)`)
      if (place.name === 'postgres') await place.run('CREATE INDEX ON votes (tx)')
      const votes = place.events(VOTES)
      const all = new Map([
        ['1', 2n * sign * MUCH],
        ['2', 7n],
        ['3', -7n],
      ])
      const read = async () => (await votes.read(COUNTERS, ['1', '2', '3'])).values
      await place.run(
        `INSERT INTO votes (item, points) VALUES (1, ${sign * MUCH}), (1, ${sign * MUCH}), (2, 7), (3, -7)`,
      )

      expect(await read()).toEqual(all)
      expect(await rollUp(votes)).toMatchObject({
        events: 4,
        refused: [{ id: '1', delta: 2n * sign * MUCH }],
      })
      expect(await read()).toEqual(all)
      await recount(votes, ['1', '2', '3'])
      expect(await read()).toEqual(all)
      expect(await stored(place, 'items')).toEqual({ 2: '7', 3: '-7' })
      expect(await votes.retryRefused?.(COUNTERS)).toBe(true)
      expect(await stored(place, 'items')).toEqual({ 2: '7', 3: '-7' })
    },
  )
})

test('a value that a non-strict MariaDB would cut off is kept', async () => {
  const place = await openMariadb()
  await makeTables(place)
  const sink = place.sinkAfter("SET sql_mode = ''", ITEMS)
  const ledger = await begin(sink)

  const applied = await sink.apply(batchOf(ledger, 1, { 1: 2n * MUCH, 2: 7 }))

  expect(applied).toMatchObject({ refused: [{ id: '1', delta: 2n * MUCH }] })
  expect((await sink.read(ledger, ['1', '2'])).values).toEqual(new Map([['1', 2n * MUCH], ['2', 7n]])) // biome-ignore format: a table
  expect(await stored(place, 'items')).toEqual({ 2: '7' })
})
