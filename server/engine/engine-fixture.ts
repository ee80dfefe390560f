// What the tests of the engines share: machines with a PATH and a data directory of their own.

import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
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

export interface Machine {
  directory: string
  said: string[]
  /** Puts a shell script on the PATH of this machine. */
  program(name: string, script: string): void
  start(env?: Record<string, string>): Promise<Engine>
}

/** A machine whose PATH has only what the test puts there. */
export function setup(): Machine {
  const root = mkdtempSync(join(tmpdir(), 'perilune-engine-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))
  const bin = join(root, 'bin')
  mkdirSync(bin)
  const directory = join(root, '.perilune')
  const said: string[] = []
  return {
    directory,
    said,
    program: (name, script) => writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 }),
    start: async (env = {}) => {
      const engine = await startEngine({
        env: { PATH: bin, ...env },
        directory,
        say: (line) => said.push(line),
      })
      onTestFinished(() => engine.stop())
      return engine
    },
  }
}

export function setupWithRedis(): Machine {
  const machine = setup()
  machine.program('redis-server', `exec ${REAL_SERVER} "$@"`)
  return machine
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

/** What listens on a free port and is no Redis. */
export async function listener(onConnection: (socket: Socket) => void): Promise<AddressInfo> {
  const server = createServer(onConnection).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return server.address() as AddressInfo
}
