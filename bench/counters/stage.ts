// The tables of each contender, and what the judge asks of them.

import type { Contender, Stage, Voting } from './contender.ts'
import type { Database } from './database.ts'

export interface Staged {
  readonly contender: Contender
  readonly stage: Stage
  readonly voting: Voting
}

export async function openStage(
  database: Database,
  redisPort: number,
  contender: Contender,
  at: number,
): Promise<Staged> {
  const name = `way${at}`
  const stage: Stage = { database, redisPort, name, votes: `${name}_votes`, items: `${name}_items` }
  await makeTables(stage, contender.countsRows === true)
  return { contender, stage, voting: await contender.open(stage) }
}

/** Voters have one vote for each item. The row is its own key, unless it needs another to be counted. */
async function makeTables({ database, votes, items }: Stage, countsRows: boolean): Promise<void> {
  await database.prepare(`CREATE TABLE ${items} (id BIGINT PRIMARY KEY, votes BIGINT NOT NULL)`)
  const columns = 'voter BIGINT NOT NULL, item BIGINT NOT NULL'
  if (!countsRows) {
    await database.prepare(`CREATE TABLE ${votes} (${columns}, PRIMARY KEY (voter, item))`)
    return
  }
  const more = database.eventColumns(votes)
  await database.prepare(`CREATE TABLE ${votes} (${more.columns}, ${columns}, UNIQUE (voter, item))`)
  if (more.index !== '') await database.prepare(more.index)
}

/** No votes, and items from 1 on. */
export async function empty({ database, votes, items }: Stage, count: number): Promise<number[]> {
  const all = Array.from({ length: count }, (_, at) => at + 1)
  for (const table of [votes, items]) {
    await database.prepare(database.kind === 'SQLite' ? `DELETE FROM ${table}` : `TRUNCATE TABLE ${table}`)
  }
  await database.prepare(`INSERT INTO ${items} (id, votes) VALUES ${all.map((id) => `(${id},0)`).join()}`)
  return all
}

/** How far the counts are from the rows of votes, of all items together; NaN where nothing counts. */
export async function driftOf({ stage, voting }: Staged, acknowledged: number): Promise<number> {
  const { database, votes, items } = stage
  const { counts = items, withoutRows = false } = voting
  if (counts === null) return Number.NaN
  const one = (sql: string): Promise<number> => oneOf(database, sql)
  if (withoutRows) return Math.abs((await one(`SELECT SUM(votes) AS one FROM ${counts} c`)) - acknowledged)
  return one(`SELECT COALESCE(SUM(ABS(c.votes - COALESCE(v.number, 0))), 0) AS one FROM ${counts} c
    LEFT JOIN (SELECT item, COUNT(*) AS number FROM ${votes} GROUP BY item) v ON v.item = c.id`)
}

async function oneOf({ run }: Database, sql: string): Promise<number> {
  const [row] = await run(sql)
  return Number(row?.['one'])
}
