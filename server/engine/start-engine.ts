import { useDocker } from './docker.ts'
import { useEmbedded } from './embedded.ts'
import { type Engine, EngineError, type EngineOptions } from './engine.ts'
import { findExecutable } from './executable.ts'
import { useExternal } from './external.ts'
import { useSpawned } from './spawned.ts'

const NOTHING_FOUND =
  'no Redis found: install one (apt-get install redis-server, brew install redis), start Docker, or set REDIS_URL'

/**
 * The first that is possible: `REDIS_URL`, a server on `PATH`, Docker, the embedded demo engine.
 * Rejects with `EngineError`.
 */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const engine = await firstPossible(options)
  let stopped: Promise<void> | undefined
  return { ...engine, stop: () => (stopped ??= engine.stop()) }
}

async function firstPossible(options: EngineOptions): Promise<Engine> {
  const { env } = options
  if (env['REDIS_URL']) return useExternal(env['REDIS_URL'], options.say)

  const server = findExecutable(['redis-server', 'valkey-server'], env['PATH'])
  if (server !== undefined) return useSpawned(server, options)

  const docker = findExecutable(['docker'], env['PATH'])
  const container = docker && (await useDocker(docker, options))
  if (container) return container

  const embedded = env['PERILUNE_DEMO'] === 'never' ? undefined : await useEmbedded()
  if (embedded === undefined) throw new EngineError(NOTHING_FOUND)
  return embedded
}
