// A private Redis in a container, for machines that have Docker but no redis-server.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { connectTo } from './connection.ts'
import type { Engine, EngineOptions } from './engine.ts'
import { freePort } from './free-port.ts'
import type { Home } from './home.ts'
import { serverArguments } from './own-server.ts'
import { readSettings } from './settings.ts'

const IMAGE = 'redis:7'

/**
 * Resolves to undefined if no Docker engine answers or the container cannot be started. The directory belongs to this
 * service, and the container's name to the directory, so there is only one container on it.
 */
export async function useDocker(
  executable: string,
  home: Home,
  options: EngineOptions,
): Promise<Engine | undefined> {
  const docker = new Docker(executable, options.env)
  if (!(await docker.answers())) return undefined
  const container = `perilune-${createHash('sha256').update(home.data).digest('hex').slice(0, 12)}`
  // A killed service left a container of this name.
  const port = (await docker.portOf(container)) ?? (await run(docker, container, home, options))
  return port === undefined ? undefined : connected(docker, container, port, home)
}

/** The state of a container that a killed service has noted. */
export async function stateOf(
  executable: string | undefined,
  container: string,
  { env }: EngineOptions,
): Promise<'running' | 'gone' | 'unknown'> {
  const docker = executable === undefined ? undefined : new Docker(executable, env)
  if (docker === undefined || !(await docker.answers())) return 'unknown'
  return (await docker.portOf(container)) === undefined ? 'gone' : 'running'
}

async function run(
  docker: Docker,
  container: string,
  home: Home,
  options: EngineOptions,
): Promise<number | undefined> {
  const port = await freePort()
  const settings = serverArguments(options.env)
  const place = ['--name', container, '-p', `127.0.0.1:${port}:6379`, '-v', `${home.data}:/data`]
  options.say(`starting ${IMAGE} with Docker; the first time it is downloaded`)
  home.note({ port, container })
  try {
    // A container that stopped with the machine keeps its name. (`run --rm` would free it too late for a quick
    // restart.)
    await docker.remove(container)
    await docker.call(['run', '-d', ...place, IMAGE, 'redis-server', ...settings])
    return port
  } catch (error) {
    home.forget()
    options.say(`Docker could not start ${IMAGE}: ${lastLine(error)}`)
    return undefined
  }
}

async function connected(docker: Docker, container: string, port: number, home: Home): Promise<Engine> {
  const url = `redis://127.0.0.1:${port}`
  await untilReachable(url, docker, container)
  // From here on Docker restarts it when it ends by itself, after ever longer pauses.
  await docker.call(['update', '--restart', 'on-failure', container]).catch(() => '')
  const client = await connectTo(url)
  const settings = await readSettings(client).finally(() => client.disconnect())
  return {
    url,
    kind: 'docker',
    description: `private Redis in the Docker container ${container} on port ${port}, data in ${home.data}`,
    ...settings,
    serves: (address) => home.serves(address),
    stop: async () => {
      await docker.call(['stop', container])
      await docker.remove(container)
      home.forget()
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

  /** Its data stays: it is in a directory of the service. */
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

/** The last line of Docker's output, which has the reason. */
function lastLine(error: unknown): string {
  return String(error).trimEnd().split('\n').at(-1) ?? ''
}
