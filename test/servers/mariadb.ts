import { join } from 'node:path'
import { createConnection } from 'mysql2/promise'
import { type DatabaseServer, type Engine, findProgram, startDatabase } from './database-server.ts'

const FOLDERS = ['/usr/sbin', '/usr/bin']
/** Many run at once in tests, of few rows each. */
const SMALL = ['--innodb-log-file-size=16M', '--innodb-buffer-pool-size=32M']

/** Starts MariaDB and resolves once it answers `root`, who needs no password. */
export function startMariadb(settings: readonly string[] = SMALL): Promise<DatabaseServer> {
  return startDatabase(engineOf(settings))
}

const engineOf = (settings: readonly string[]): Engine => ({
  name: 'mariadb',
  create: (dir) => [
    findProgram('mariadb-install-db', FOLDERS),
    '--no-defaults',
    `--datadir=${join(dir, 'data')}`,
    `--tmpdir=${dir}`,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
    '--skip-name-resolve',
    ...settings,
  ],
  serve: (dir, port) => [
    findProgram('mariadbd', FOLDERS),
    '--no-defaults',
    `--datadir=${join(dir, 'data')}`,
    // As it starts, it deletes the temporary tables that it finds, those of others too.
    `--tmpdir=${dir}`,
    `--socket=${join(dir, 'socket')}`,
    '--bind-address=127.0.0.1',
    `--port=${port}`,
    '--max-connections=200',
    '--skip-name-resolve',
    ...settings,
    `--pid-file=${join(dir, 'pid')}`,
  ],
  stopSignal: 'SIGTERM',
  greet: async (port) => {
    const connection = await createConnection({ host: '127.0.0.1', port, user: 'root' })
    await connection.end()
  },
})
