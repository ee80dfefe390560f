import { postgres } from 'perilune/postgres'
import { expect, test } from 'vitest'
import { batchOf, begin, ITEMS, makeTables, stored } from './fixture.ts'
import { openPostgres } from './places.ts'

test('a connection whose answer was abandoned is not used again', async () => {
  const place = await openPostgres()
  await makeTables(place)
  const sink = postgres(place.impatientPool(1000), ITEMS)
  const ledger = await begin(sink)
  const other = await place.session()
  await other.run('INSERT INTO items VALUES (1, 100)')
  await other.run('BEGIN')
  await other.run('UPDATE items SET votes = 100 WHERE id = 1')
  const batch = batchOf(ledger, 1, { 1: 1 })

  await expect(sink.apply(batch)).rejects.toMatchObject({ code: 'sink-unreachable' })
  await other.run('COMMIT')

  expect(await sink.apply(batch)).toBe('applied')
  expect(await stored(place, 'items')).toEqual({ 1: '101' })
})
