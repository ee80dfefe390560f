// A counter in several rows: few votes wait for the same one, and a reader adds them up.

import type { Contender, Stage, Voting } from './contender.ts'
import { countByTrigger } from './trigger.ts'

const SLOTS = 16

export const slotted: Contender = {
  name: `slotted counter, ${SLOTS} slots`,
  settings:
    'one statement (on MariaDB a trigger), into the slot of the voter; all slots are there; reading adds them up',
  on: ['PostgreSQL', 'MariaDB'],
  async open(stage): Promise<Voting> {
    const { database, name } = stage
    const slots = `${name}_slots`
    await database.prepare(
      `CREATE TABLE ${slots} (item BIGINT, slot INTEGER, votes BIGINT NOT NULL, PRIMARY KEY (item, slot))`,
    )
    return {
      vote: await voting(stage, slots),
      counts: `(SELECT item AS id, SUM(votes) AS votes FROM ${slots} GROUP BY item)`,
      async begin(items) {
        await database.prepare(`TRUNCATE TABLE ${slots}`)
        const rows = items.flatMap((item) =>
          Array.from({ length: SLOTS }, (_, slot) => `(${item},${slot},0)`),
        )
        await database.prepare(`INSERT INTO ${slots} VALUES ${rows.join()}`)
      },
    }
  },
}

async function voting({ database, name, votes }: Stage, slots: string): Promise<Voting['vote']> {
  const insert = `INSERT INTO ${votes} (voter, item) VALUES (?, ?)`
  if (database.kind === 'PostgreSQL') {
    const sql = `WITH vote AS (${insert} RETURNING item)
      UPDATE ${slots} s SET votes = s.votes + 1 FROM vote WHERE s.item = vote.item AND s.slot = ?`
    return (voter, item) => database.run(sql, [voter, item, voter % SLOTS])
  }
  const update = `UPDATE ${slots} SET votes = votes + 1 WHERE item = NEW.item AND slot = NEW.voter MOD ${SLOTS}`
  await countByTrigger(database, name, votes, update)
  return (voter, item) => database.run(insert, [voter, item])
}
