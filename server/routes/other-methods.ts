import type { App } from '../fastify.ts'
import { methodNotAllowed } from '../problems.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** Answers 405 wherever a path of this app is known but the method is not. To be called before its routes. */
export function refuseOtherMethods(app: App): void {
  const known = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, path, method }) => {
    const methods = known.get(path ?? url) ?? new Set()
    for (const each of [method].flat()) methods.add(each)
    known.set(path ?? url, methods)
  })
  app.after(() => {
    for (const [url, methods] of new Map(known)) refuse(app, url.slice(app.prefix.length), methods)
  })
}

function refuse(app: App, url: string, known: ReadonlySet<string>): void {
  const allowed = [...known].join(', ')
  app.route({
    url,
    method: METHODS.filter((method) => !known.has(method)),
    handler: () => {
      throw methodNotAllowed(allowed)
    },
  })
}
