import type { App } from '../fastify.ts'
import { unavailable } from '../problems.ts'
import type { Readiness } from '../readiness.ts'

export function healthRoutes(app: App, readiness: Readiness): void {
  app.get('/livez', async () => ({ status: 'alive' }))

  app.get('/readyz', async () => {
    const reason = await readiness.reason()
    if (reason !== null) throw unavailable(`Not ready: ${reason}.`)
    return { status: 'ready' }
  })
}
