// A server that speaks Zaqar's API v2, and how its CPU time is read.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { freePort } from '../../test/servers/ports.ts'
import { builtService } from '../harness/built.ts'
import { cpuOf } from '../harness/server-time.ts'

export interface Target {
  readonly name: string
  readonly host: string
  readonly port: number
  /** Of all its processes, in microseconds; NaN when unknown. */
  cpuUs(): number
  close(): Promise<void>
}

/** The service in a process of its own, on a Redis that is there already. */
export async function startService(redisPort: number): Promise<Target> {
  const port = await freePort()
  const service = spawn(process.execPath, [await builtService()], {
    env: { ...process.env, ...SETTINGS, PORT: String(port), REDIS_URL: `redis://127.0.0.1:${redisPort}` },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const end = (): void => void service.kill()
  process.once('exit', end)
  const target = {
    name: 'Perilune',
    host: '127.0.0.1',
    port,
    cpuUs: () => cpuOf(service.pid ?? 0),
    close: () => stop(service, end),
  }
  await untilItAnswers(target, service)
  return target
}

/** Without the line of log for each request, as a reverse proxy already writes one. */
const SETTINGS = { NODE_ENV: 'production', LOG_LEVEL: 'warn', HOST: '127.0.0.1' }

/** Another server for the same load; `ZAQAR_PIDS` names its processes, if they run on this machine. */
export function givenTarget({ ZAQAR_URL, ZAQAR_PIDS }: NodeJS.ProcessEnv): Target | null {
  if (!ZAQAR_URL) return null
  const { hostname, port, host } = new URL(ZAQAR_URL)
  const pids = (ZAQAR_PIDS ?? '').split(',').filter(Boolean).map(Number)
  const cpuUs = (): number =>
    pids.length === 0 ? Number.NaN : pids.reduce((sum, pid) => sum + cpuOf(pid), 0)
  return { name: host, host: hostname, port: Number(port || 80), cpuUs, close: async () => {} }
}

async function untilItAnswers({ host, port }: Target, service: ChildProcess): Promise<void> {
  for (;;) {
    if (service.exitCode !== null) throw new Error(`the service ended with code ${service.exitCode}`)
    const answer = await fetch(`http://${host}:${port}/readyz`).catch(() => null)
    if (answer?.ok) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function stop(service: ChildProcess, onExit: () => void): Promise<void> {
  process.off('exit', onExit)
  if (service.exitCode !== null) return
  const exit = once(service, 'exit')
  service.kill()
  await exit
}
