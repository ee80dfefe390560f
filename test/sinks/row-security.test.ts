// Tables of PostgreSQL whose row-level security applies to the role of the pool: it hides rows, or refuses some that
// are written.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { makeVotes, postgresAlone, read, rollUpAll, VOTES } from './counts-fixture.ts'
import { batchOf, begin, ITEMS, makeTables, stored } from './fixture.ts'
import { openMariadb, openSqlite, type PostgresPlace } from './places.ts'

const openPostgres = postgresAlone()
const WITH_POLICIES = { rowLevelSecurity: 'allow' } as const

/** A role that has all rights but that to see every row. */
async function newRole(place: PostgresPlace): Promise<string> {
  const role = `r${randomUUID().replaceAll('-', '')}`
  await place.run(`CREATE ROLE ${role} LOGIN; GRANT ALL ON SCHEMA ${place.schema} TO ${role};
    GRANT ALL ON ALL TABLES IN SCHEMA ${place.schema} TO ${role}; GRANT ALL ON ALL SEQUENCES IN SCHEMA ${place.schema} TO ${role}`)
  return role
}

function refusalOf(table: string, role: string) {
  return {
    code: 'sink-misconfigured',
    message: `row-level security of the table ${table} applies to the role ${role}, which may not see all rows: use a role that owns the table or has BYPASSRLS, or set rowLevelSecurity: 'allow'`,
  }
}

test('a target whose row-level security applies to the role is rejected, and nothing is created next to it', async () => {
  const place = await openPostgres()
  await makeTables(place)
  await place.run('ALTER TABLE items ENABLE ROW LEVEL SECURITY')
  const role = await newRole(place)

  await expect(place.sinkOf(role)(ITEMS).prepare()).rejects.toMatchObject(refusalOf('items', role))
  expect(
    await place.run(
      `SELECT 1 FROM pg_tables WHERE schemaname = '${place.schema}' AND tablename ~ '^perilune'`,
    ),
  ).toEqual([])
})

test.each(['perilune_ledger', 'perilune_refused'])(
  'row-level security of %s that applies to the role is rejected',
  async (table) => {
    const place = await openPostgres()
    await makeTables(place)
    await place.sink(ITEMS).prepare()
    await place.run(`ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`)
    const role = await newRole(place)

    await expect(place.sinkOf(role)(ITEMS).prepare()).rejects.toMatchObject(refusalOf(table, role))
  },
)

test.each(['votes', 'perilune_cursor', 'perilune_outbox'])(
  'row-level security of %s, whose rows are counted, is rejected when it applies to the role',
  async (table) => {
    const place = await openPostgres()
    await makeVotes(place)
    await place.outbox(ITEMS).prepare()
    await place.run(`ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`)
    const role = await newRole(place)
    const { outbox, events } = place.countsOf(role)
    const source = table === 'votes' ? events(VOTES) : outbox(ITEMS)

    await expect(source.prepare()).rejects.toMatchObject(refusalOf(table, role))
  },
)

test('a role that owns the table, or has BYPASSRLS, is accepted', async () => {
  const place = await openPostgres()
  await makeTables(place)
  await place.run('ALTER TABLE items ENABLE ROW LEVEL SECURITY')
  const [owner, bypassing] = [await newRole(place), await newRole(place)]
  await place.run(`ALTER ROLE ${bypassing} BYPASSRLS`)
  await place.sink(ITEMS).prepare()
  await place.run(
    `ALTER TABLE items OWNER TO ${owner}; GRANT ALL ON ALL TABLES IN SCHEMA ${place.schema} TO ${owner}, ${bypassing}`,
  )

  await place.sinkOf(owner)(ITEMS).prepare()
  await place.sinkOf(bypassing)(ITEMS).prepare()
  await place.run('ALTER TABLE items FORCE ROW LEVEL SECURITY')
  await expect(place.sinkOf(owner)(ITEMS).prepare()).rejects.toMatchObject(refusalOf('items', owner))
})

test("with rowLevelSecurity: 'allow' each tenant counts under its policy, and sees no row of another", async () => {
  const place = await openPostgres()
  await place.run(`CREATE TABLE items (id BIGINT PRIMARY KEY, votes BIGINT, tenant TEXT NOT NULL DEFAULT current_user);
    ALTER TABLE items ENABLE ROW LEVEL SECURITY; CREATE POLICY own ON items USING (tenant = current_user)`)
  await place.sink(ITEMS).prepare()
  const [one, other] = [await newRole(place), await newRole(place)]
  await place.run(`INSERT INTO items VALUES (1, 10, '${one}'), (2, 20, '${other}')`)
  const [ours, theirs] = [one, other].map((role) => place.sinkOf(role)({ ...ITEMS, ...WITH_POLICIES }))
  if (ours === undefined || theirs === undefined) throw new Error('there are two')
  const [first, second] = [await begin(ours), await begin(theirs)]

  expect((await ours.read(first, ['1', '2'])).values).toEqual(new Map([['1', 10n]]))
  expect(await ours.apply(batchOf(first, 1, { 1: 1, 3: 3 }))).toBe('applied')
  expect(await theirs.apply(batchOf(second, 1, { 2: 2, 4: 4 }))).toBe('applied')
  expect(await ours.apply(batchOf(first, 2, { 1: 1, 2: 7 }))).toMatchObject({
    refused: [{ id: '2', delta: 7n }],
  })
  expect(await stored(place, 'items')).toEqual({ 1: '12', 2: '22', 3: '3', 4: '4' })
})

test("with rowLevelSecurity: 'allow' the rows that a policy shows are counted", async () => {
  const place = await openPostgres()
  await makeVotes(place, ', tenant TEXT NOT NULL DEFAULT current_user')
  await place.events(VOTES).prepare()
  const role = await newRole(place)
  await place.run(`ALTER TABLE votes ENABLE ROW LEVEL SECURITY; CREATE POLICY own ON votes USING (tenant = current_user);
    INSERT INTO votes (item, voter, tenant) VALUES (1, 'ada', '${role}'), (1, 'bob', 'another')`)
  const votes = place.countsOf(role).events({ ...VOTES, target: { ...VOTES.target, ...WITH_POLICIES } })

  expect(await read(votes, '1')).toEqual({ 1: 1 })
  expect(await rollUpAll(votes)).toBe(1)
  expect(await stored(place, 'items')).toEqual({ 1: '1' })
})

test('only PostgreSQL takes the option, and an invalid value is rejected', async () => {
  for (const { name, place } of [
    { name: 'sqlite', place: await openSqlite() },
    { name: 'mysql', place: await openMariadb() },
  ])
    expect(() => place.sink({ ...ITEMS, ...WITH_POLICIES })).toThrow(
      `rowLevelSecurity is only for PostgreSQL: ${name} has no row-level security`,
    )
  const place = await openPostgres()
  expect(() => place.sink({ ...ITEMS, rowLevelSecurity: true as never })).toThrow(
    'rowLevelSecurity must be one of refuse, allow',
  )
  const target = { ...VOTES.target, rowLevelSecurity: true as never }
  expect(() => place.events({ ...VOTES, target })).toThrow('target.rowLevelSecurity must be one of')
})
