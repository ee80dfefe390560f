// The service as a whole: engine, client, library and routes, started and stopped in order.

import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { buildApp } from './app.ts'
import { countersAtWork } from './counters/at-work.ts'
import { readCountersEntries } from './counters/entry.ts'
import { openTables, type Tables } from './counters/open-counters.ts'
import { type Engine, EngineError } from './engine/engine.ts'
import { startEngine } from './engine/start-engine.ts'
import type { App, LogTarget } from './http/fastify.ts'
import { Readiness } from './health/readiness.ts'
import { openClient } from './engine/client.ts'
import { type Environment, StartError } from './process/environment.ts'
import { readSettings, type ServiceSettings } from './settings.ts'
import { sharesOf } from './http/answers/shares.ts'
import { Unsent } from './http/answers/unsent.ts'
import { readZaqarSettings, type ZaqarSettings } from './zaqar/settings/settings.ts'

export interface Service {
  readonly url: string
  readonly engine: Engine
  readonly log: App['log']
  /**
   * Accepts no more requests, lets running ones finish, and stops what was started. Repeated calls return the same
   * promise.
   */
  close(): Promise<void>
}

const DRAIN_MS = 10_000

/** Rejects with StartError, and leaves nothing running, if the service cannot start. */
export async function startService(
  environment: Environment,
  say: (line: string) => void,
  logTarget?: LogTarget,
): Promise<Service> {
  const settings = readSettings(environment)
  const zaqar = readZaqarSettings(environment)
  const tables = await openTables(readCountersEntries(environment))
  const engine = await startEngine({ env: environment, directory: settings.directory, say }).catch(explain)
  try {
    return await serve(settings, { zaqar, tables, logTarget }, engine)
  } catch (error) {
    await engine.stop()
    throw error
  }
}

interface Configured {
  readonly zaqar: ZaqarSettings
  readonly tables: Tables
  readonly logTarget: LogTarget | undefined
}

async function serve(
  { host, port, namespace, logLevel }: ServiceSettings,
  { zaqar, tables, logTarget }: Configured,
  engine: Engine,
): Promise<Service> {
  let log: App['log'] | undefined
  const client = openClient(engine.url, (error) => log?.warn({ reason: error.message }, 'redis'))
  const unsent = new Unsent()
  const redis = perilune(ioredis(client), { namespace, shares: sharesOf(unsent) })
  const release = async (): Promise<void> => {
    await redis.close()
    client.disconnect()
    await tables.close()
  }
  let app: App | undefined
  try {
    const { counters, needs, flush } = countersAtWork(redis, tables, () => log)
    const readiness = new Readiness(client, redis, needs, () => engine.obstacle?.() ?? null, namespace)
    const parts = { perilune: redis, unsent, readiness, counters, zaqar, logLevel, logTarget }
    const serving = (app = buildApp(parts))
    log = app.log
    const obstacle = await readiness.reason()
    const url = await app.listen({ host, port })
    engine.serves?.(url)
    const flushing = flush()
    const close = async (): Promise<void> => {
      await drain(serving)
      await flushing.close()
      await release()
      await engine.stop()
    }
    return { url, engine: withWarning(engine, obstacle), log, close: once(close) }
  } catch (error) {
    await app?.close()
    await release()
    return explainListen(error, host, port)
  }
}

/** A service that is not ready yet starts all the same, and warns with the reason. */
function withWarning(engine: Engine, obstacle: string | null): Engine {
  return obstacle === null ? engine : { ...engine, warnings: [...engine.warnings, `not ready: ${obstacle}`] }
}

async function drain(app: App): Promise<void> {
  const impatience = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS)
  // A connection whose last answer left after the closing began would otherwise be kept alive.
  const sweep = setInterval(() => app.server.closeIdleConnections(), 50)
  await app.close()
  clearTimeout(impatience)
  clearInterval(sweep)
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => (done ??= work())
}

function explain(error: unknown): never {
  throw error instanceof EngineError ? new StartError(error.message, { cause: error }) : error
}

function explainListen(error: unknown, host: string, port: number): never {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE') {
    throw new StartError(`port ${port} on ${host} is taken: set PORT to another one`, { cause: error })
  }
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    throw new StartError(`cannot listen on ${host} port ${port}: ${code}`, { cause: error })
  }
  throw error
}
