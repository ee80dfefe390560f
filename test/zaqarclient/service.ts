// The service as a program of its own, for clients that are programs of their own.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { commandOf } from '../programs/fork.ts'
import { guardAgainstOurEnd, noLongerGuard } from '../servers/guard.ts'
import { freePort } from '../servers/ports.ts'

export interface RunningService extends AsyncDisposable {
  readonly url: string
  /** kill -9. */
  kill(): Promise<void>
}

const main = new URL('../../server/main.ts', import.meta.url)

/** Starts `server/main.ts` on a free port; resolves once it listens. */
export async function startProgram(environment: Record<string, string>): Promise<RunningService> {
  const port = await freePort()
  const env = {
    ...process.env,
    NODE_ENV: 'production',
    PORT: String(port),
    LOG_LEVEL: 'info',
    ...environment,
  }
  const child = spawn(process.execPath, commandOf(main), {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const pid = child.pid ?? 0
  guardAgainstOurEnd('server', pid)
  await untilListening(child)
  const end = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'close')
    child.kill(signal)
    await ended
    noLongerGuard('server', pid)
  }
  return {
    url: `http://127.0.0.1:${port}`,
    kill: () => end('SIGKILL'),
    [Symbol.asyncDispose]: () => end('SIGTERM'),
  }
}

async function untilListening(child: ChildProcess): Promise<void> {
  let out = ''
  child.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString()))
  while (!out.includes('"listening"')) {
    if (child.exitCode !== null) throw new Error(`the service did not start: ${out}`)
    await Promise.race([once(child.stdout ?? child, 'data'), once(child, 'exit')])
  }
}
