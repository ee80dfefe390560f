import { stateOf, useDocker } from './docker.ts'
import { useEmbedded } from './embedded.ts'
import { type Engine, EngineError, type EngineOptions } from './engine.ts'
import { findExecutable } from './executable.ts'
import { useExternal } from './external.ts'
import { type Home, openHome } from './home.ts'
import { useSpawned } from './spawned.ts'

const NOTHING_FOUND =
  'no Redis found: install one (apt-get install redis-server, brew install redis), start Docker, or set REDIS_URL'

/**
 * The first that is possible: `REDIS_URL`, a server on `PATH`, Docker, the embedded demo engine. Rejects with
 * `EngineError`.
 */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const engine = await firstPossible(options)
  let stopped: Promise<void> | undefined
  return { ...engine, stop: () => (stopped ??= engine.stop()) }
}

async function firstPossible(options: EngineOptions): Promise<Engine> {
  const { env } = options
  if (env['REDIS_URL']) return useExternal(env['REDIS_URL'], options.say)
  const own = await useOwn(options)
  if (own !== undefined) return own
  const embedded = env['PERILUNE_DEMO'] === 'never' ? undefined : await useEmbedded()
  if (embedded === undefined) throw new EngineError(NOTHING_FOUND)
  return embedded
}

/** A private engine on a directory that this service owns. Resolves to undefined if no program can run one. */
async function useOwn(options: EngineOptions): Promise<Engine | undefined> {
  const { env } = options
  const server = findExecutable(['redis-server', 'valkey-server'], env['PATH'])
  const docker = findExecutable(['docker'], env['PATH'])
  if (server === undefined && docker === undefined) return undefined
  const home = await openHome(options)
  try {
    const engine = await onHome({ server, docker }, home, options)
    if (engine === undefined) home.release()
    return engine && { ...engine, stop: () => engine.stop().finally(() => home.release()) }
  } catch (error) {
    home.release()
    throw error
  }
}

interface Programs {
  readonly server: string | undefined
  readonly docker: string | undefined
}

/** A server left by a killed service continues, even if another kind would be found first now. */
async function onHome(
  { server, docker }: Programs,
  home: Home,
  options: EngineOptions,
): Promise<Engine | undefined> {
  const container = home.noted()?.container
  const left = container && (await stateOf(docker, container, options))
  if (left === 'unknown') throw new EngineError(containerLeft(container, home))
  const isFree = await home.lock.take()
  if (isFree && docker !== undefined && (left === 'running' || server === undefined))
    return useDocker(docker, home, options)
  return useSpawned(server ?? 'redis-server', home, options)
}

function containerLeft(container: string | undefined, { data }: Home): string {
  return `the Docker container ${container} of a service that was killed may still have the data in ${data}, and Docker does not answer: start Docker, or set PERILUNE_DATA to another directory`
}
