// A flush does itself what the database asks for: the same once more.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { ITEMS, makeTables, stored } from './fixture.ts'
import { openMariadb, openPostgres } from './places.ts'

// A sequence does not go back with its transaction, so the first write fails, and no other.
const POSTGRES = [
  'CREATE SEQUENCE tries',
  `CREATE FUNCTION fail_once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF nextval('tries') = 1 THEN RAISE EXCEPTION USING ERRCODE = '40001'; END IF;
    RETURN NEW; END $$`,
  'CREATE TRIGGER fail_once BEFORE INSERT ON items FOR EACH ROW EXECUTE FUNCTION fail_once()',
]
const MARIADB = [
  'CREATE SEQUENCE tries',
  `CREATE TRIGGER fail_once BEFORE INSERT ON items FOR EACH ROW
    IF NEXTVAL(tries) = 1 THEN SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213; END IF`,
]

test.each([
  { name: 'postgres', open: openPostgres, failsOnce: POSTGRES, tries: "SELECT nextval('tries') AS next" },
  { name: 'mariadb', open: openMariadb, failsOnce: MARIADB, tries: 'SELECT NEXTVAL(tries) AS next' },
])('a flush into $name sends its batch again when a transaction could not be serialised', async (of) => {
  const place = await of.open()
  await makeTables(place)
  for (const sql of of.failsOnce) await place.run(sql)
  const client = new Redis(inject('redisPort'))
  const redis = perilune(ioredis(client), { namespace: 'flushes' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  const counters = redis.counters(randomUUID(), { sink: place.sink(ITEMS), fsyncGrace: '0s' })
  await counters.increment(1, 5)

  const flushed = await counters.flush()

  expect(flushed).toEqual({ batches: 1, counters: 1 })
  expect(await stored(place, 'items')).toEqual({ 1: '5' })
  expect(await place.run('SELECT seq FROM perilune_ledger').then(([row]) => Number(row?.['seq']))).toBe(1)
  expect(Number((await place.run(of.tries))[0]?.['next'])).toBe(3)
})
