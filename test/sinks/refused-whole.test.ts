// Refusals of one row that look like refusals of all: by error codes of a trigger, by policies, at the COMMIT, or by
// ending the whole transaction. All other rows are still written. A statement that is stopped for its time is no
// refusal.
import { describe, expect, test } from 'vitest'
import { makeVotes, postgresAlone, rollUp, VOTES } from './counts-fixture.ts'
import { batchOf, begin, ITEMS, makeTables, stored, WORDS } from './fixture.ts'
import { openMariadb, openSqlite, type Place } from './places.ts'

const openPostgres = postgresAlone()

/** A batch of three in which the row of 5 is refused; the kept change is written once `mend` has been run. */
async function keepsOne(
  place: Place,
  mend: readonly string[],
  also: Readonly<Record<string, string>> = {},
): Promise<void> {
  const sink = place.sink(ITEMS)
  const ledger = await begin(sink)

  const others = { 1: '1', 2: '2', 7: '7', ...also }
  const deltas = Object.fromEntries(Object.entries({ ...others, 5: 5 }).map(([id, sum]) => [id, Number(sum)]))
  expect(await sink.apply(batchOf(ledger, 1, deltas))).toMatchObject({ refused: [{ id: '5', delta: 5n }] })
  expect(await stored(place, 'items')).toEqual(others)
  expect((await sink.read(ledger, ['5'])).values).toEqual(new Map([['5', 5n]]))
  expect(await sink.retryRefused?.(ledger.counters)).toBe(true)
  for (const statement of mend) await place.run(statement)
  expect(await sink.retryRefused?.(ledger.counters)).toBe(false)
  expect(await stored(place, 'items')).toEqual({ ...others, 5: '5' })
}

describe('PostgreSQL', () => {
  const trigger = (what: string): string[] => [
    `CREATE FUNCTION judge() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF NEW.id = 5 THEN ${what} END IF; RETURN NEW; END $$`,
    'CREATE TRIGGER judge BEFORE INSERT OR UPDATE ON items FOR EACH ROW EXECUTE FUNCTION judge()',
  ]

  test.each([
    ['by a code of its own', "RAISE EXCEPTION 'closed' USING ERRCODE = 'UV001';"],
    ['for want of rights', "RAISE EXCEPTION 'closed' USING ERRCODE = 'insufficient_privilege';"],
    ['by the state of a server', "RAISE EXCEPTION 'closed' USING ERRCODE = '55000';"],
    ['by a code of a server that is busy', "RAISE EXCEPTION 'closed' USING ERRCODE = '40001';"],
    ['by a code of a copy', "RAISE EXCEPTION 'closed' USING ERRCODE = '25006';"],
    ['for it finds two rows', 'NEW.votes := (SELECT x FROM (VALUES (1), (2)) two (x));'],
  ])('a row that a trigger rejects %s is kept, and all others are written', async (_, what) => {
    const place = await openPostgres()
    await makeTables(place)
    for (const statement of trigger(what)) await place.run(statement)
    await keepsOne(place, ['DROP TRIGGER judge ON items'])
  })

  test('a row that a policy rejects is kept, and all others are written', async () => {
    const place = await openPostgres()
    await makeTables(place)
    const role = `${place.schema}_few`
    await place.run(`CREATE ROLE ${role} LOGIN; GRANT ALL ON SCHEMA ${place.schema} TO ${role};
      GRANT ALL ON items TO ${role}; ALTER TABLE items ENABLE ROW LEVEL SECURITY;
      CREATE POLICY few ON items USING (true) WITH CHECK (id <> 5)`)
    const sink = place.sinkOf(role)({ ...ITEMS, rowLevelSecurity: 'allow' })
    const ledger = await begin(sink)

    const applied = await sink.apply(batchOf(ledger, 1, { 1: 1, 5: 5, 7: 7 }))

    expect(applied).toMatchObject({
      refused: [{ id: '5', why: expect.stringContaining('policy') as string }],
    })
    expect(await stored(place, 'items')).toEqual({ 1: '1', 7: '7' })
  })

  test('changes refused at the COMMIT are tried again, and block nothing', async () => {
    const place = await openPostgres()
    await place.run(`CREATE TABLE parents (id BIGINT PRIMARY KEY); INSERT INTO parents VALUES (1), (2), (7);
      CREATE TABLE items (id BIGINT PRIMARY KEY REFERENCES parents DEFERRABLE INITIALLY DEFERRED, votes BIGINT)`)
    await keepsOne(place, ['INSERT INTO parents VALUES (5)'])
  })

  test('ids that a collation makes one row are counted as that row', async ({ skip }) => {
    const place = await openPostgres()
    const icu = await place.run("SELECT 1 FROM pg_collation WHERE collprovider = 'i' LIMIT 1")
    if (icu.length === 0) skip('this server was built without ICU')
    await place.run(`CREATE COLLATION folding (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
      CREATE TABLE words (id TEXT COLLATE folding PRIMARY KEY, votes BIGINT)`)
    const sink = place.sink(WORDS)
    const ledger = await begin(sink)

    expect(await sink.apply(batchOf(ledger, 1, { Ada: 1, ada: 2, bob: 4 }))).toBe('applied')

    expect((await sink.read(ledger, ['ADA', 'bob'])).values).toEqual(new Map([['ADA', 3n], ['bob', 4n]])) // biome-ignore format: a table
  })
})

test.each([1142, 1205, 1290])(
  'a row that a trigger of MySQL signals with the number %i is kept, and all others are written',
  async (number) => {
    const place = await openMariadb()
    await makeTables(place)
    for (const when of ['INSERT', 'UPDATE'])
      await place.run(`CREATE TRIGGER judge_${when} BEFORE ${when} ON items FOR EACH ROW
        IF NEW.id = 5 THEN SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = ${number}; END IF`)
    await keepsOne(place, ['DROP TRIGGER judge_INSERT', 'DROP TRIGGER judge_UPDATE'])
  },
)

describe('SQLite', () => {
  const ends =
    "CREATE TRIGGER judge BEFORE INSERT ON items WHEN NEW.id = 5 BEGIN SELECT RAISE(ROLLBACK, 'closed'); END"
  const conflicts =
    'CREATE TRIGGER judge AFTER INSERT ON items WHEN NEW.id = 5 BEGIN INSERT INTO logs VALUES (NULL); END'

  test.each([
    ['a trigger', ends],
    ['a constraint', conflicts],
  ])('a row for which %s ends the transaction is kept, and all others are written', async (_, trigger) => {
    const place = await openSqlite()
    await makeTables(place)
    await place.run('CREATE TABLE logs (x INTEGER NOT NULL ON CONFLICT ROLLBACK)')
    await place.run(trigger)
    await keepsOne(place, ['DROP TRIGGER judge'])
  })

  test.each(['the poll is locked', 'the room is full', 'no such table for guests', 'ITEM IS READONLY'])(
    'a row that a trigger rejects saying %s is kept, and all others are written',
    async (words) => {
      const place = await openSqlite()
      await makeTables(place)
      await place.run(ends.replace('ROLLBACK', 'ABORT').replace('closed', words))
      await keepsOne(place, ['DROP TRIGGER judge'])
    },
  )

  test('many rows for which a trigger ends the transaction are kept, too', async () => {
    const place = await openSqlite()
    await makeTables(place)
    await place.run(ends.replace('NEW.id = 5', 'NEW.id % 2 = 1'))
    const sink = place.sink(ITEMS)
    const ledger = await begin(sink)

    const all = Array.from({ length: 400 }, (_, at) => [at, 1] as const)
    await sink.apply(batchOf(ledger, 1, Object.fromEntries(all)))

    const held = new Map(Object.entries(await stored(place, 'items')).map(([id, sum]) => [id, Number(sum)]))
    for (const { id, delta } of (await sink.refused?.(ledger.counters)) ?? [])
      held.set(id, (held.get(id) ?? 0) + Number(delta))
    expect(held).toEqual(new Map(all.map(([id]) => [String(id), 1])))
  })

  test('a row that is rejected at the COMMIT is kept, and all others are written', async () => {
    const place = await openSqlite()
    const open = (): Place['sink'] => (target) => {
      const database = place.open()
      database.exec('PRAGMA foreign_keys = ON')
      return place.sinkOf(database, target)
    }
    await place.run('CREATE TABLE parents (id INTEGER PRIMARY KEY)')
    await place.run('INSERT INTO parents VALUES (1), (2), (7)')
    await place.run(`CREATE TABLE items (id INTEGER PRIMARY KEY
      REFERENCES parents DEFERRABLE INITIALLY DEFERRED, votes INTEGER NOT NULL DEFAULT 0)`)
    await place.run('PRAGMA foreign_keys = OFF')
    await place.run('INSERT INTO items VALUES (9, 0)')
    // It violates the rule already: a larger value violates it no more than before.
    await keepsOne({ ...place, sink: open() }, ['INSERT INTO parents VALUES (5)'], { 9: '9' })
  })
})

test('a count, or an amount, that is no integer in SQLite blocks no other', async () => {
  const place = await openSqlite()
  await makeVotes(place)
  await place.run("INSERT INTO items VALUES (1, 1.5), (2, 20), (3, 'many')")
  const sink = place.sink(ITEMS)
  const ledger = await begin(sink)

  expect((await sink.read(ledger, ['1', '2', '3'])).values).toEqual(new Map([['1', 1n], ['2', 20n], ['3', 0n]])) // biome-ignore format: a table
  expect(await sink.apply(batchOf(ledger, 1, { 1: 1, 2: 1, 3: 1 }))).toMatchObject({ refused: [{ id: '1' }] })
  expect((await sink.read(ledger, ['1', '2', '3'])).values).toEqual(new Map([['1', 2n], ['2', 21n], ['3', 1n]])) // biome-ignore format: a table

  const votes = place.events(VOTES)
  await place.run("INSERT INTO votes (item, points) VALUES (7, 2.5), (8, 'many'), (9, 4)")
  expect(await rollUp(votes)).toMatchObject({ events: 3, refused: [] })
  expect(await stored(place, 'items')).toMatchObject({ 7: '2', 8: '0', 9: '4' })
})

test('a statement that MariaDB stops after its time limit is no refusal', async () => {
  const place = await openMariadb()
  await makeTables(place)
  await place.run('INSERT INTO items VALUES (5, 0)')
  const sink = place.sinkAfter('SET max_statement_time = 0.2', ITEMS)
  const ledger = await begin(sink)
  const session = await place.session()
  await session.run('BEGIN')
  await session.run('UPDATE items SET votes = 1 WHERE id = 5')

  const batch = batchOf(ledger, 1, { 1: 1, 5: 5 })
  await expect(sink.apply(batch)).rejects.toMatchObject({ code: 'sink-busy' })
  await session.run('ROLLBACK')

  expect(await sink.apply(batch)).toBe('applied')
  expect(await sink.refused?.(ledger.counters)).toEqual([])
})

test.each([
  { name: 'postgres', open: openPostgres as () => Promise<Place> },
  { name: 'mariadb', open: openMariadb as () => Promise<Place> },
])('two epochs that keep the same counter of $name at once keep both', async ({ open }) => {
  const place = await open()
  await place.run('CREATE TABLE items (id BIGINT PRIMARY KEY, votes BIGINT CHECK (id <> 5))')
  const sink = place.sink(ITEMS)
  const first = await begin(sink)
  for (let at = 0; at < 10; at++) {
    const ledgers = [0, 1].map((partition) => ({ ...first, counters: `${first.counters}:${at}`, partition }))
    const epochs = await Promise.all(
      ledgers.map(({ counters, partition }) => sink.begin(counters, partition)),
    )
    const batches = ledgers.map((ledger, n) => batchOf({ ...ledger, epoch: epochs[n] ?? 0 }, 1, { 5: 3 }))

    await Promise.all(batches.map((batch) => sink.apply(batch)))

    expect(await sink.refused?.(`${first.counters}:${at}`)).toMatchObject([{ id: '5', delta: 6n }])
  }
})
