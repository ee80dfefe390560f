// The usual program: a vote for an item waits for all other votes for it.

import { type Contender, NAIVE } from './contender.ts'

export const naive: Contender = {
  name: NAIVE,
  settings: 'BEGIN, INSERT the vote, UPDATE the item, COMMIT',
  async open({ database, votes, items }) {
    return {
      vote: (voter, item) =>
        database.transaction(async (run) => {
          await run(`INSERT INTO ${votes} (voter, item) VALUES (?, ?)`, [voter, item])
          await run(`UPDATE ${items} SET votes = votes + 1 WHERE id = ?`, [item])
        }),
    }
  },
}
