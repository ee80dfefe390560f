import { realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { type DatabaseServer, type Engine, findProgram, foldersIn, startDatabase } from './database-server.ts'

/** Many run at once in tests, of few rows each. */
const SMALL = ['-c', 'shared_buffers=32MB']

/** Starts PostgreSQL and resolves once it answers `postgres`, who needs no password. */
export function startPostgres(settings: readonly string[] = SMALL): Promise<DatabaseServer> {
  return startDatabase(engineOf(settings))
}

const engineOf = (settings: readonly string[]): Engine => ({
  name: 'postgres',
  create: (dir) => [
    program('initdb'),
    '--pgdata',
    join(dir, 'data'),
    '--username',
    'postgres',
    '--auth',
    'trust',
    '--encoding',
    'UTF8',
    '--no-locale',
    '--no-sync',
  ],
  serve: (dir, port) => [
    program('postgres'),
    '-D',
    join(dir, 'data'),
    '-p',
    String(port),
    '-h',
    '127.0.0.1',
    '-k',
    '',
    '-c',
    'max_connections=200',
    ...settings,
  ],
  stopSignal: 'SIGINT',
  greet: async (port) => {
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' })
    client.on('error', () => {}) // the rejected promise says the same
    await client.connect()
    await client.end()
  },
})

/** Debian and Homebrew keep each version in a folder of its own. A link would not find its neighbours. */
function program(name: string): string {
  const packages = ['/usr/lib/postgresql', '/opt/homebrew/opt', '/usr/local/opt'].flatMap(foldersIn)
  const folders = packages
    .filter((folder) => folder.includes('/postgresql'))
    .map((folder) => join(folder, 'bin'))
  return join(dirname(realpathSync(findProgram('initdb', folders))), name)
}
