// `npm start` as it is: ending npm ends the service and its private server.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../servers/ports.ts'

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url))

interface Started {
  readonly npm: ChildProcess
  /** Of the private server. */
  readonly server: number
  /** Resolves when npm, the service and whatever else writes to their output have ended. */
  readonly ended: Promise<unknown>
}

async function start(): Promise<Started> {
  const data = mkdtempSync(join(tmpdir(), 'perilune-stop-'))
  const { REDIS_URL: _, ...env } = process.env
  const npm = spawn('npm', ['start'], {
    cwd: REPOSITORY,
    env: { ...env, NODE_ENV: '', PORT: String(await freePort()), PERILUNE_DATA: data },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  const ended = once(npm, 'close')
  onTestFinished(() => {
    kill(-(npm.pid ?? 0))
    kill(serverIn(data) ?? 0)
    rmSync(data, { recursive: true, force: true, maxRetries: 5 })
  })
  await new Promise<void>((resolve) => {
    npm.stdout.on('data', (chunk) => String(chunk).includes('claims') && resolve())
  })
  return { npm, server: serverIn(data) ?? expect.fail('no private server'), ended }
}

function serverIn(data: string): number | undefined {
  const file = join(data, 'redis.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).pid : undefined
}

function kill(pid: number): void {
  try {
    if (pid !== 0) process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test.each(['SIGTERM', 'SIGINT', 'SIGKILL'] as const)(
  '%s to npm ends the service and its server',
  async (signal) => {
    const { npm, server, ended } = await start()

    npm.kill(signal)
    await ended

    await expect.poll(() => isAlive(server)).toBe(false)
  },
)

test.skipIf(process.platform !== 'linux')(
  'a start whose npm ends before it looks for it does not begin',
  async () => {
    const begin =
      "require('node:child_process').spawn(process.execPath, ['tools/start.mjs'], { stdio: 'inherit' }).unref()"
    const { REDIS_URL: _, ...env } = process.env
    const gone = spawn(process.execPath, ['-e', begin], {
      cwd: REPOSITORY,
      env: { ...env, npm_lifecycle_event: 'start', PORT: String(await freePort()) },
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    })
    onTestFinished(() => kill(-(gone.pid ?? 0)))
    let said = ''
    gone.stdout.on('data', (chunk) => (said += String(chunk)))

    await once(gone, 'close')

    expect(said).toBe('')
  },
)
