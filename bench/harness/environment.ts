// What the numbers depend on beside the code.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { cpus, loadavg } from 'node:os'
import type { Redis } from 'ioredis'

export interface Environment {
  command: string
  server: string
  client: string
  node: string
  processor: string
  /** Processes that wanted to run in the last minute: on a quiet machine near zero. */
  load: number
}

export async function environment(client: Redis): Promise<Environment> {
  return {
    command: `npm run bench -- ${process.argv.slice(2).join(' ')}`,
    server: await serverVersion(client),
    client: `ioredis ${clientVersion()}`,
    node: process.version,
    processor: `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`,
    load: loadavg()[0] ?? Number.NaN,
  }
}

async function serverVersion(client: Redis): Promise<string> {
  const info = await client.info('server')
  const [, engine, version] = /(valkey|redis)_version:(\S+)/.exec(info) ?? []
  return `${engine} ${version}`
}

function clientVersion(): string {
  const file = createRequire(import.meta.url).resolve('ioredis/package.json')
  const { version }: { version: string } = JSON.parse(readFileSync(file, 'utf8'))
  return version
}
