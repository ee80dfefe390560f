// Fixtures of the engine tests: machines with a PATH and a data directory of their own.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { ask } from '../../test/servers/ask.ts'
import { type RedisOptions, type RedisServer, startRedis } from '../../test/servers/redis.ts'
import { type Engine } from './engine.ts'
import { findExecutable } from './executable.ts'
import { startEngine } from './start-engine.ts'

export const REAL_SERVER: string =
  findExecutable(['redis-server', 'valkey-server'], process.env['PATH']) ?? ''

const STARTS = 'starts'

export interface Machine {
  directory: string
  said: string[]
  /** Its PATH. */
  path: string
  /** Puts a shell script on the PATH of this machine. */
  program(name: string, script: string): void
  start(env?: Record<string, string>, patienceMs?: number): Promise<Engine>
  /** Pids of the running redis-servers of `setupWithRedis`, whichever service started them. */
  servers(): number[]
  /** How many have been started. */
  starts(): number
}

/** A machine whose PATH has only what the test puts there. */
export function setup(): Machine {
  const root = mkdtempSync(join(tmpdir(), 'perilune-engine-'))
  const bin = join(root, 'bin')
  mkdirSync(bin)
  const servers = (): number[] => startedIn(bin).filter(isAlive)
  onTestFinished(() => {
    for (const pid of servers()) process.kill(pid, 'SIGKILL')
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
  })
  const directory = join(root, '.perilune')
  const said: string[] = []
  return {
    directory,
    said,
    path: bin,
    servers,
    starts: () => startedIn(bin).length,
    program: (name, script) => writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 }),
    start: async (env = {}, patienceMs = 60_000) => {
      const engine = await startEngine({
        env: { PATH: bin, ...env },
        directory,
        patienceMs,
        say: (line) => said.push(line),
      })
      onTestFinished(() => engine.stop())
      return engine
    },
  }
}

export function setupWithRedis(): Machine {
  const machine = setup()
  useRedis(machine)
  return machine
}

/** `before` is run by the shell before it becomes the server. */
export function useRedis(machine: Machine, before = ''): void {
  machine.program('redis-server', `echo $$ >>"\${0%/*}/${STARTS}"\n${before}\nexec ${REAL_SERVER} "$@"`)
}

function startedIn(bin: string): number[] {
  const file = join(bin, STARTS)
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : []
}

/** Its parent may not have reaped a process that has ended. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    const state = `/proc/${pid}/stat`
    return !existsSync(state) || !/\) Z /.test(readFileSync(state, 'utf8'))
  } catch {
    return false
  }
}

/** Resolves to the URL of the server that it left running. With SIGTERM it exits at once. */
export async function startAndKillService(
  { directory }: Machine,
  signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL',
): Promise<string> {
  const program = `import('${new URL('start-engine.ts', import.meta.url).href}').then(async ({ startEngine }) => {
    const env = { PATH: '${join(directory, '..', 'bin')}' }
    const engine = await startEngine({ env, directory: '${directory}', say: () => {} })
    process.on('SIGTERM', () => process.exit(1))
    console.log(engine.url)
    setInterval(() => {}, 1000)
  })`
  const service = spawn(process.execPath, ['--import', 'tsx', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(service.stdout, 'data')
  service.kill(signal)
  await once(service, 'exit')
  return String(line).trim()
}

export function portOf(engine: Engine): number {
  return Number(new URL(engine.url).port)
}

export async function setting(engine: Engine, name: string): Promise<string> {
  return JSON.stringify(await ask(portOf(engine), 'CONFIG', 'GET', name))
}

export async function external(options: RedisOptions = {}): Promise<RedisServer> {
  const redis = await startRedis(options)
  onTestFinished(() => redis.stop())
  return redis
}

/** A server on a free port that is not Redis. */
export async function listener(onConnection: (socket: Socket) => void): Promise<AddressInfo> {
  const server = createServer(onConnection).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return server.address() as AddressInfo
}
