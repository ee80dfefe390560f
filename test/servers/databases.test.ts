import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { until } from './ask.ts'
import { startMariadb } from './mariadb.ts'
import { startPostgres } from './postgres.ts'

async function askPostgres(port: number, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' })
  await client.connect()
  const { rows } = await client.query(sql)
  await client.end()
  return rows
}

async function askMariadb(port: number, sql: string): Promise<unknown[]> {
  const connection = await createConnection({ host: '127.0.0.1', port, user: 'root', database: 'mysql' })
  const [rows] = await connection.query(sql)
  await connection.end()
  return rows as unknown[]
}

const ENGINES = [
  { name: 'postgres', file: 'postgres.ts', start: startPostgres, ask: askPostgres },
  { name: 'mariadb', file: 'mariadb.ts', start: startMariadb, ask: askMariadb },
]

test.each(ENGINES)('$name keeps what was committed across kill -9 and a restart', async ({ start, ask }) => {
  const server = await start()
  onTestFinished(() => server.stop())
  const { pid } = server
  await ask(server.port, 'CREATE TABLE kept (id INTEGER PRIMARY KEY)')
  await ask(server.port, 'INSERT INTO kept VALUES (7)')

  await server.kill()
  await server.restart()

  expect(await ask(server.port, 'SELECT id FROM kept')).toEqual([{ id: 7 }])
  expect(server.pid).not.toBe(pid)
  await server.stop()
  expect(existsSync(server.dir)).toBe(false)
})

test.each(ENGINES)(
  '$name is removed when the process that started it is killed',
  async ({ name, file, ask }) => {
    const start = name === 'postgres' ? 'startPostgres' : 'startMariadb'
    const program = `import('${new URL(file, import.meta.url).href}').then(async (module) => {
    const { port, dir } = await module.${start}()
    console.log(port + ' ' + dir)
    setInterval(() => {}, 1000)
  })`
    const starter = spawn(process.execPath, ['--import', 'tsx', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = await once(starter.stdout, 'data')
    const [port = '', dir = ''] = String(line).trim().split(' ')
    await ask(Number(port), 'SELECT 1')

    starter.kill('SIGKILL')

    await until('its directory is gone', async () => !existsSync(dir))
    await expect(ask(Number(port), 'SELECT 1')).rejects.toThrow(/ECONNREFUSED|ECONNRESET/)
  },
)
