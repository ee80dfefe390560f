import type { App } from '../../http/fastify.ts'
import { homeDocument, versions } from './home-document.ts'

/** For anybody, with or without headers. */
export function zaqarVersions(app: App): void {
  app.get('/', async (_request, reply) => reply.code(300).type('application/json').send(versions))
}

export function zaqarHome(app: App): void {
  app.get('/', { prefixTrailingSlash: 'slash' }, async (_request, reply) =>
    reply.type('application/json-home').header('Cache-Control', 'max-age=86400').send(homeDocument),
  )
}
