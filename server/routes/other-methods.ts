import type { App } from '../fastify.ts'
import { methodNotAllowed } from '../problems.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/**
 * Answers 405 wherever a path of this app is known but the method is not. To be called before its routes. `answersHead`:
 * whether what may be read there answers HEAD, too.
 */
export function refuseOtherMethods(app: App, answersHead: (url: string) => boolean = () => true): void {
  const known = new Map<string, Set<string>>()
  const allowed = new Map<string, string>()
  app.addHook('onRoute', (route) => {
    const { path, method } = route
    const methods = known.get(path) ?? new Set()
    known.set(path, methods)
    // That of HEAD comes by itself with each of GET.
    if (method === 'HEAD' && !answersHead(path)) route.handler = () => refuse(allowed.get(path))
    else for (const each of [method].flat()) methods.add(each)
  })
  app.after(() => {
    for (const [path, methods] of known) allowed.set(path, [...methods].join(', '))
    for (const [path, methods] of allowed) refuseAllBut(app, path, methods)
  })
}

function refuseAllBut(app: App, path: string, allowed: string): void {
  const known = new Set(allowed.split(', '))
  app.route({
    url: path.slice(app.prefix.length),
    method: METHODS.filter((method) => !known.has(method === 'HEAD' ? 'GET' : method)),
    handler: () => refuse(allowed),
  })
}

function refuse(allowed = ''): never {
  throw methodNotAllowed(allowed)
}
