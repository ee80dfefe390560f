import { once } from 'node:events'
import type { RedisServerHandle } from 'js-redis-server'
import type { Engine } from './engine.ts'

/** Runs inside this process. Resolves to undefined if its package is not installed. */
export async function useEmbedded(): Promise<Engine | undefined> {
  const library = await import('js-redis-server').catch(() => undefined)
  if (library === undefined) return undefined
  const engine = await library.createRedisServer()
  const port = await onLoopbackOnly(engine.server)
  return {
    url: `redis://127.0.0.1:${port}`,
    kind: 'embedded',
    description: 'in-memory demo engine: nothing is kept',
    durability: 'in this process only: all data is lost when it ends',
    keepsData: false,
    warnings: ['in-memory demo engine: nothing is kept'],
    stop: () => engine.close(),
  }
}

/** The library listens on all interfaces and has no option for it. */
async function onLoopbackOnly(engine: RedisServerHandle['server']): Promise<number> {
  const { server } = engine
  server.close()
  await once(server, 'close')
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return engine.getPort()
}
