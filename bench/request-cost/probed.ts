// The service in a process of its own, which tells how long its event loop stood still and how large it grew.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../test/servers/ports.ts'
import { builtService } from '../harness/built.ts'

/** Since it was last asked. */
export interface Seen {
  /** The longest time for which the event loop came to nothing else, as its clock saw it. */
  readonly delayMs: number
  /** The most processor time between two of its turns, of all threads. */
  readonly gapMs: number
  readonly rssBytes: number
}

export interface Probed extends AsyncDisposable {
  readonly url: string
  look(): Promise<Seen>
}

/** `settings`: of the environment of its process; `PROBE_GAPS=no`: the time of gaps is not sampled. */
export async function startProbed(redisPort: number, settings: Record<string, string> = {}): Promise<Probed> {
  const port = await freePort()
  const probe = fileURLToPath(new URL('probe.mjs', import.meta.url))
  const service = spawn(process.execPath, ['--import', probe, await builtService()], {
    env: {
      ...process.env,
      ...SETTINGS,
      ...settings,
      PORT: String(port),
      REDIS_URL: `redis://127.0.0.1:${redisPort}`,
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const url = `http://127.0.0.1:${port}`
  const end = (): void => void service.kill()
  process.once('exit', end)
  while (!(await fetch(`${url}/readyz`).catch(() => null))?.ok) {
    if (service.exitCode !== null) throw new Error(`the service ended with code ${service.exitCode}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return {
    url,
    async look() {
      service.send('look')
      const [seen] = await once(service, 'message')
      return seen as Seen
    },
    async [Symbol.asyncDispose]() {
      process.off('exit', end)
      const ended = once(service, 'exit')
      service.kill()
      await ended
    },
  }
}

const SETTINGS = {
  NODE_ENV: 'production',
  LOG_LEVEL: 'fatal',
  HOST: '127.0.0.1',
  PERILUNE_SIGNING_SECRET: 'bench',
  PERILUNE_WEBHOOK_ALLOW: '127.0.0.0/8',
}
