// Many rows that are refused, in a database that takes its time for each statement: they are tried some at a time.
import { setTimeout as sleep } from 'node:timers/promises'
import { fromTransaction, type Transact } from 'perilune/transaction-sink'
import { expect, test } from 'vitest'
import { batchOf, begin, ITEMS, makeTables, stored } from './fixture.ts'
import { ownSqlite } from './transactions.ts'

test('refused changes are retried for half a second, then the others, and at last all of them', async () => {
  const { place, transact } = await ownSqlite()
  await makeTables(place)
  let pauseMs = 0
  const slowly: Transact = (work) =>
    transact((execute) =>
      work(async (sql, values) => {
        if (pauseMs > 0) await sleep(pauseMs)
        return execute(sql, values)
      }),
    )
  const sink = fromTransaction(slowly, { dialect: 'sqlite', ...ITEMS, missing: 'refuse' })
  const ledger = await begin(sink)
  const ids = Array.from({ length: 60 }, (_, at) => at + 1)
  await sink.apply(batchOf(ledger, 1, Object.fromEntries(ids.map((id) => [id, id]))))
  for (const id of ids) await place.run(`INSERT INTO items VALUES (${id}, 0)`)

  pauseMs = 10
  const from = performance.now()
  expect(await sink.retryRefused?.(ledger.counters)).toBe(true)
  expect(performance.now() - from).toBeLessThan(1500)
  const some = Object.values(await stored(place, 'items')).filter((votes) => votes !== '0').length
  expect(some).toBeGreaterThan(0)
  expect(some).toBeLessThan(60)
  for (let tries = 0; tries < 60 && (await sink.retryRefused?.(ledger.counters)); tries++);

  expect(await stored(place, 'items')).toEqual(Object.fromEntries(ids.map((id) => [id, String(id)])))
}, 30_000)
