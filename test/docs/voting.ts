// The voting example, as its tests start it.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { type Program, startProgram } from './programs.ts'

export async function redisServer(): Promise<RedisServer> {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  return redis
}

export function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'perilune-voting-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'votes.db')
}

export function start(redis: RedisServer, database: string, ...args: string[]): Program {
  const program = startProgram(['examples/voting/voting.ts', '--port', '0', ...args], redis.url, {
    DATABASE_URL: database,
  })
  onTestFinished(() => program.interrupt())
  return program
}

/** Serves without a load; resolves to its address. */
export async function serve(
  redis: RedisServer,
  file: string = newFile(),
): Promise<{ program: Program; url: string; file: string }> {
  const program = start(redis, `file:${file}`, '--seconds', '0')
  const [, url = ''] = /watch it at (\S+)\/\n/.exec(await program.prints('leave with Ctrl-C')) ?? []
  return { program, url, file }
}
