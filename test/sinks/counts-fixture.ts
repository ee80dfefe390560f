import { afterAll, beforeAll } from 'vitest'
import type { CountSource, RolledUp } from '../../src/counters/count-source.ts'
import type { DatabaseServer } from '../servers/database-server.ts'
import { startPostgres } from '../servers/postgres.ts'
import { makeTables } from './fixture.ts'
import { openMariadb, openPostgres, type Place, type PostgresPlace, type ServerPlace } from './places.ts'

export const VOTES = {
  table: 'votes',
  id: 'item',
  amount: 'points',
  target: { table: 'items', value: 'votes' },
} as const

/** On a PostgreSQL of the file's own: transactions that others have open would hold back what is rolled up. */
export function postgresAlone(): () => Promise<PostgresPlace> {
  let server: DatabaseServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.stop())
  return () => openPostgres(server.port)
}

/** Events of whom rows that wait have NULL for their mark, and not 0. */
export async function openMariadbOfNulls(): Promise<ServerPlace> {
  const eventColumns = 'id BIGINT AUTO_INCREMENT PRIMARY KEY, counted BIGINT NULL, INDEX (counted)'
  return { ...(await openMariadb()), eventColumns }
}

/** Items, and a table of votes for them: one a voter. */
export async function makeVotes(place: Place, more = '', item = 'BIGINT'): Promise<void> {
  await makeTables(place)
  await place.run(`CREATE TABLE votes (${place.eventColumns}, item ${item}, voter VARCHAR(40) UNIQUE,
    points INTEGER NOT NULL DEFAULT 1${more})`)
  if (place.eventColumns.includes('xid8')) await place.run('CREATE INDEX ON votes (tx)')
}

export function voteFor(item: number | string, voters: string, points = 1): string {
  return `INSERT INTO votes (item, voter, points) VALUES ${voters
    .split(' ')
    .map((voter) => `(${item}, '${voter}', ${points})`)
    .join(', ')}`
}

const COUNTERS = 'test:votes'

export function rollUp(
  source: CountSource,
  ids: string[] = [],
  limit = 1000,
  until?: string,
): Promise<RolledUp> {
  return source.rollUp({ counters: COUNTERS, ids, limit, recount: false, until })
}

/** Rolls up until nothing more is to be taken; answers how many rows that were. */
export async function rollUpAll(source: CountSource, limit = 1000): Promise<number> {
  for (let events = 0; ; ) {
    const rolled = await rollUp(source, [], limit)
    events += rolled.events
    if (!rolled.more) return events
  }
}

export async function read(source: CountSource, ...ids: string[]): Promise<Record<string, number>> {
  const { values } = await source.read(COUNTERS, ids)
  return Object.fromEntries([...values].map(([id, value]) => [id, Number(value)]))
}

export function recount(source: CountSource, ids: string[]): Promise<RolledUp> {
  return source.rollUp({ counters: COUNTERS, ids, limit: 1000, recount: true })
}

export function backlog(source: CountSource): Promise<unknown> {
  return source.waiting(COUNTERS)
}
