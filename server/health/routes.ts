import type { App } from '../http/fastify.ts'
import { unavailable } from '../http/answers/problems.ts'
import type { Readiness } from './readiness.ts'

export function healthRoutes(app: App, readiness: Readiness): void {
  app.get('/livez', async () => ({ status: 'alive' }))

  app.get('/readyz', async () => {
    const reason = await readiness.reason()
    if (reason !== null) throw unavailable(`Not ready: ${reason}.`)
    return { status: 'ready' }
  })
}
