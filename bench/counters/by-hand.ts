// The least cost of deferred counting of rows where the order of commits cannot be queried: each row has to say
// whether it was taken, and is written once more for that. The counts are not published, and a held row stops all
// others.

import { setTimeout as sleep } from 'node:timers/promises'
import { BY_HAND, type Contender, EVERY_MS, type Stage, type Voting } from './contender.ts'
import type { Rows, Run } from './database.ts'

const ROWS = 5000

export const byHand: Contender = {
  name: BY_HAND,
  settings: `INSERT the vote; behind, each ${EVERY_MS} ms, ${ROWS} rows a transaction are read, marked and counted: no Redis, no count is shown`,
  on: ['MariaDB'],
  countsRows: true,
  open: (stage) => openByHand(stage, true),
}

export const byHandAlone: Contender = {
  name: `${BY_HAND} later`,
  settings: 'the same, all of it after the round',
  on: ['MariaDB'],
  countsRows: true,
  open: (stage) => openByHand(stage, false),
}

async function openByHand(stage: Stage, isDuring: boolean): Promise<Voting> {
  const { database, votes } = stage
  let ends = new AbortController()
  let rolling: Promise<unknown> = Promise.resolve()
  const rollUp = async (): Promise<void> => {
    while ((await rollUpSome(stage)) === ROWS);
  }
  const rollUpAgainAndAgain = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await rollUp()
      await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined)
    }
  }
  return {
    begin: async () => {
      ends = new AbortController()
      if (isDuring) rolling = rollUpAgainAndAgain(ends.signal)
    },
    vote: (voter, item) => database.run(`INSERT INTO ${votes} (voter, item) VALUES (?, ?)`, [voter, item]),
    settle: async () => {
      ends.abort()
      await rolling
      await rollUp()
    },
  }
}

async function rollUpSome({ database, votes, items }: Stage): Promise<number> {
  let taken: Rows = []
  const rollUp = async (run: Run): Promise<void> => {
    taken = await run(`SELECT id, item FROM ${votes} WHERE counted = 0 ORDER BY id LIMIT ${ROWS}`)
    if (taken.length === 0) return
    await run(`UPDATE ${votes} SET counted = 1 WHERE ${rangesOf(taken.map(({ id }) => Number(id)))}`)
    await run(`INSERT INTO ${items} (id, votes) VALUES ${sumsOf(taken).join()}
      ON DUPLICATE KEY UPDATE votes = votes + VALUES(votes)`)
  }
  // Or it would lock the gaps between rows, and who votes would wait there, or deadlock.
  await database.transaction(rollUp, 'READ COMMITTED')
  return taken.length
}

/** Keys that follow each other are one range. */
function rangesOf(keys: readonly number[]): string {
  const firsts = keys.filter((key, at) => keys[at - 1] !== key - 1)
  const lasts = keys.filter((key, at) => keys[at + 1] !== key + 1)
  return firsts.map((first, at) => `id BETWEEN ${first} AND ${lasts[at]}`).join(' OR ')
}

function sumsOf(rows: Rows): string[] {
  const sums = new Map<number, number>()
  for (const item of rows.map((row) => Number(row['item']))) sums.set(item, (sums.get(item) ?? 0) + 1)
  return [...sums].map(([item, sum]) => `(${item}, ${sum})`)
}
