// A private Redis in a container, for machines that have Docker but no redis-server.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { connectTo } from './connection.ts'
import type { Engine, EngineOptions } from './engine.ts'
import { freePort } from './free-port.ts'
import { occupy, serverArguments } from './own-server.ts'
import { readSettings } from './settings.ts'

const IMAGE = 'redis:7'

/** Resolves to undefined when no Docker engine answers or it cannot start the container. */
export async function useDocker(executable: string, options: EngineOptions): Promise<Engine | undefined> {
  const docker = new Docker(executable, options.env)
  if (!(await docker.answers())) return undefined
  const data = join(resolve(options.directory), 'redis')
  const container = `perilune-${createHash('sha256').update(data).digest('hex').slice(0, 12)}`
  // A container of this name was left by a service that was killed.
  const port = (await docker.portOf(container)) ?? (await run(docker, container, data, options))
  return port === undefined ? undefined : connected(docker, container, port, data)
}

async function run(
  docker: Docker,
  container: string,
  data: string,
  options: EngineOptions,
): Promise<number | undefined> {
  mkdirSync(data, { recursive: true, mode: 0o700 })
  const port = await freePort()
  const settings = serverArguments(options.env)
  const place = ['--name', container, '-p', `127.0.0.1:${port}:6379`, '-v', `${data}:/data`]
  options.say(`starting ${IMAGE} with Docker; the first time it is downloaded`)
  try {
    // One that stopped with the machine still has the name. (`run --rm` would free it too late for a quick restart.)
    await docker.remove(container)
    await docker.call(['run', '-d', ...place, IMAGE, 'redis-server', ...settings])
    return port
  } catch (error) {
    options.say(`Docker could not start ${IMAGE}: ${lastLine(error)}`)
    return undefined
  }
}

async function connected(docker: Docker, container: string, port: number, data: string): Promise<Engine> {
  const url = `redis://127.0.0.1:${port}`
  await untilReachable(url, docker, container)
  const client = await occupy(url)
  return {
    url,
    kind: 'docker',
    description: `private Redis in the Docker container ${container} on port ${port}, data in ${data}`,
    ...(await readSettings(client)),
    stop: async () => {
      client.disconnect()
      await docker.call(['stop', container])
      await docker.remove(container)
    },
  }
}

/** Docker accepts connections before the server in the container does. */
async function untilReachable(url: string, docker: Docker, container: string): Promise<void> {
  for (;;) {
    try {
      const client = await connectTo(url)
      client.disconnect()
      return
    } catch (error) {
      if ((await docker.portOf(container)) === undefined) throw error
      await sleep(50)
    }
  }
}

class Docker {
  readonly #executable: string
  readonly #env: Readonly<Record<string, string | undefined>>

  constructor(executable: string, env: Readonly<Record<string, string | undefined>>) {
    this.#executable = executable
    this.#env = env
  }

  async call(args: readonly string[], timeout = 0): Promise<string> {
    const { stdout } = await promisify(execFile)(this.#executable, args, { env: this.#env, timeout })
    return stdout
  }

  answers(): Promise<boolean> {
    return this.call(['info'], 3000).then(
      () => true,
      () => false,
    )
  }

  /** Its data stays: that is in a directory of ours. */
  async remove(container: string): Promise<void> {
    await this.call(['rm', '-f', container])
  }

  /** The loopback port of a running container, or undefined. */
  async portOf(container: string): Promise<number | undefined> {
    const published = await this.call(['port', container, '6379']).catch(() => '')
    const port = /:(\d+)\s*$/m.exec(published)?.[1]
    return port === undefined ? undefined : Number(port)
  }
}

/** What Docker wrote last, which tells why. */
function lastLine(error: unknown): string {
  return String(error).trimEnd().split('\n').at(-1) ?? ''
}
