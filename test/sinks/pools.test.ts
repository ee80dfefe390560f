// Values that are no pool: without a check the first call ends the process, or reports that no database answers.

import mysql from 'mysql2'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import { mysql as mysqlSink, mysqlEvents, mysqlOutbox } from 'perilune/mysql'
import { postgres, postgresEvents, postgresOutbox } from 'perilune/postgres'
import { expect, onTestFinished, test } from 'vitest'
import { VOTES } from './counts-fixture.ts'
import { ITEMS } from './fixture.ts'

const UNUSED = { host: '127.0.0.1', port: 1 }

test.each([
  ['mysql', (pool: never) => mysqlSink(pool, ITEMS)],
  ['mysqlEvents', (pool: never) => mysqlEvents(pool, VOTES)],
  ['mysqlOutbox', (pool: never) => mysqlOutbox(pool, ITEMS)],
])('a pool of mysql2 with callbacks, or a connection, is no pool for %s', async (_, make) => {
  const pool = mysql.createPool(UNUSED)
  onTestFinished(() => pool.promise().end())

  expect(() => make(pool as never)).toThrow(
    'pool must be a pool of mysql2/promise: call pool.promise() on this one',
  )
  expect(() => make(createConnection as never)).toThrow('pool must be a pool of mysql2/promise')
  expect(() => make(pool.promise() as never)).not.toThrow()
})

test.each([
  ['postgres', (pool: never) => postgres(pool, ITEMS)],
  ['postgresEvents', (pool: never) => postgresEvents(pool, VOTES)],
  ['postgresOutbox', (pool: never) => postgresOutbox(pool, ITEMS)],
])('a client of pg is no pool for %s', async (_, make) => {
  const pool = new pg.Pool(UNUSED)
  onTestFinished(() => pool.end())

  expect(() => make(new pg.Client(UNUSED) as never)).toThrow('pool must be a Pool of pg, not a Client')
  expect(() => make(pool as never)).not.toThrow()
})
