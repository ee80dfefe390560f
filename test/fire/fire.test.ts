// The short form of `npm run fire`: a dozen of its cells, with some of the structures each.

import { rmSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { SEED, someOf } from '../proof.ts'
import { type Cell, type ClientName, replayOf } from './cell.ts'
import { Stages } from './stages.ts'
import { STRUCTURES } from './table.ts'

type Row = [topology: string, client: ClientName, fault: string, structures: readonly string[]]

/** By topology, so that each is started once. */
const ROWS: readonly Row[] = [
  ['single', 'ioredis', 'cut', ['lock', 'once', 'counters', 'feed']],
  ['single', 'node-redis', 'late-copies', ['queue-options', 'collection', 'rate-limit']],
  ['single', 'node-redis', 'kill', ['queue', 'feed-partitioned', 'counters-partitioned']],
  ['single', 'ioredis', 'clock', ['lock', 'election', 'semaphore', 'rate-limit']],
  ['single', 'node-redis', 'rights', ['cache', 'autocomplete', 'feed-claims', 'queue', 'feed-options']],
  ['single', 'ioredis', 'stopped-process', ['lock', 'queue', 'once']],
  ['one-address', 'ioredis', 'failover', ['lock', 'shared-lock', 'feed', 'cache']],
  ['one-address', 'node-redis', 'failover', ['semaphore', 'queue', 'collection']],
  ['sentinel', 'node-redis', 'failover', ['lock', 'election', 'feed-claims', 'counters']],
  ['sentinel', 'ioredis', 'kill', ['feed', 'semaphore', 'autocomplete']],
  ['cluster', 'node-redis', 'failover', ['election', 'shared-lock', 'queue-partitioned', 'cache']],
  ['cluster', 'ioredis', 'moved-slots', ['feed-partitioned', 'once', 'counters-partitioned']],
]

const stages = new Stages()
afterAll(() => stages.stop())

test.each(someOf(ROWS, 3))('%s, %s, %s: no fault', async (topology, client, fault, structures) => {
  const cell: Cell = { topology, client, structures, fault, seed: SEED }
  const { violations } = await stages.run(cell, { processes: 2 })
  expect(violations, replayOf(cell, STRUCTURES)).toEqual([])
})

test('a server that loses acknowledged writes is detected', async () => {
  const structures = ['feed', 'autocomplete']
  const cell: Cell = { topology: 'single', client: 'ioredis', structures, fault: 'emptied', seed: SEED }
  const { violations, folder } = await stages.run(cell, { processes: 2 })
  if (folder !== null) rmSync(folder, { recursive: true })
  for (const structure of structures)
    expect(violations).toContainEqual(expect.stringMatching(new RegExp(`^${structure}: .* not there`)))
})
