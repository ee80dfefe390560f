// The same transaction in one round trip: the row of the item is locked for the commit alone.

import type { Contender } from './contender.ts'
import { countByTrigger } from './trigger.ts'

export const oneStatement: Contender = {
  name: 'one statement',
  settings: 'WITH the INSERT RETURNING its item, UPDATE that',
  on: ['PostgreSQL'],
  async open({ database, votes, items }) {
    const sql = `WITH vote AS (INSERT INTO ${votes} (voter, item) VALUES (?, ?) RETURNING item)
      UPDATE ${items} i SET votes = i.votes + 1 FROM vote WHERE i.id = vote.item`
    return { vote: (voter, item) => database.run(sql, [voter, item]) }
  },
}

export const trigger: Contender = {
  name: 'one statement, by a trigger',
  settings: 'INSERT the vote; a trigger updates the item, for no statement here writes two tables',
  on: ['MariaDB', 'SQLite'],
  async open({ database, name, votes, items }) {
    await countByTrigger(database, name, votes, `UPDATE ${items} SET votes = votes + 1 WHERE id = NEW.item`)
    return {
      vote: (voter, item) => database.run(`INSERT INTO ${votes} (voter, item) VALUES (?, ?)`, [voter, item]),
    }
  },
}
