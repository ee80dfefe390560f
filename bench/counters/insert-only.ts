// The minimum of every program that keeps votes. They are not counted.

import type { Contender } from './contender.ts'

export const insertOnly: Contender = {
  name: 'INSERT only',
  settings: 'the floor: a row for each vote, which nothing counts',
  async open({ database, votes }) {
    return {
      vote: (voter, item) => database.run(`INSERT INTO ${votes} (voter, item) VALUES (?, ?)`, [voter, item]),
      counts: null,
    }
  },
}
