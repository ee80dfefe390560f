// The least that counting rows costs where commits have no order that can be asked for: each row has to say whether it was
// taken, and is written once more for that. Nothing is counted here.

import { setTimeout as sleep } from 'node:timers/promises'
import { type Contender, EVERY_MS, type Stage, type Voting } from './contender.ts'
import type { Run } from './database.ts'

const ROWS = 5000

export const onlyMarks: Contender = {
  name: 'INSERT, and marks',
  settings: `INSERT the vote; behind, each ${EVERY_MS} ms, ${ROWS} rows a transaction are read and marked: no count, no Redis. The least that tells new rows here`,
  on: ['MariaDB'],
  countsRows: true,
  open: (stage) => openMarks(stage, true),
}

export const withoutMarks: Contender = {
  name: 'INSERT, marked later',
  settings: 'the same, marked after the round',
  on: ['MariaDB'],
  countsRows: true,
  open: (stage) => openMarks(stage, false),
}

async function openMarks({ database, votes }: Stage, marks: boolean): Promise<Voting> {
  let ends = new AbortController()
  let marking: Promise<unknown> = Promise.resolve()
  const markAll = async (): Promise<void> => {
    while ((await markSome({ database, votes })) === ROWS);
  }
  const mark = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await markAll()
      await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined)
    }
  }
  return {
    begin: async () => {
      ends = new AbortController()
      if (marks) marking = mark(ends.signal)
    },
    vote: (voter, item) => database.run(`INSERT INTO ${votes} (voter, item) VALUES (?, ?)`, [voter, item]),
    settle: async () => {
      ends.abort()
      await marking
      await markAll()
    },
    counts: null,
  }
}

async function markSome({ database, votes }: Pick<Stage, 'database' | 'votes'>): Promise<number> {
  let taken = 0
  const mark = async (run: Run): Promise<void> => {
    const rows = await run(`SELECT id FROM ${votes} WHERE counted = 0 ORDER BY id LIMIT ${ROWS}`)
    taken = rows.length
    if (taken === 0) return
    await run(`UPDATE ${votes} SET counted = 1 WHERE id IN (${rows.map(({ id }) => id).join()})`)
  }
  // Or it would lock the gaps between rows, and who votes would wait there, or deadlock.
  await database.transaction(mark, 'READ COMMITTED')
  return taken
}
