import type { VoteDatabase } from './database.ts'
import { openMysql } from './mysql.ts'
import { openPostgres } from './postgres.ts'
import { openSqlite } from './sqlite.ts'

/** `postgres://…`, `mysql://…` or `file:votes.db`; without one a file that is gone when the program ends. */
export async function openDatabase(url: string | undefined): Promise<VoteDatabase> {
  if (url === undefined || url === '') return openSqlite()
  const [scheme, rest = ''] = url.split(/:(.*)/s)
  switch (scheme) {
    case 'file':
      return openSqlite(rest)
    case 'postgres':
    case 'postgresql':
      return openPostgres(url)
    case 'mysql':
    case 'mariadb':
      return openMysql(url)
    default:
      throw new Error(`DATABASE_URL must begin with postgres:, mysql: or file:, and not with ${scheme}:`)
  }
}
