import type { App } from './fastify.ts'
import { methodNotAllowed } from './answers/problems.ts'
import { METHODS } from './requests/methods.ts'

/**
 * Answers 405 if a path of this app is known but the method is not. To be called before its routes are added.
 * `answersHead`: whether a readable path also answers HEAD.
 */
export function refuseOtherMethods(app: App, answersHead: (url: string) => boolean = () => true): void {
  /** By path: the methods that have a route, and those of them that are answered. */
  const routed = new Map<string, Set<string>>()
  const answered = new Map<string, Set<string>>()
  const allowedOn = (path: string): string => [...(answered.get(path) ?? [])].join(', ')
  app.addHook('onRoute', (route) => {
    const { path, method } = route
    const methods = [method].flat()
    addTo(routed, path, methods)
    // Fastify adds a HEAD route to each GET route.
    if (method === 'HEAD' && !answersHead(path)) route.handler = () => refuse(allowedOn(path))
    else addTo(answered, path, methods)
  })
  app.after(() => {
    // Routes that only reject do not belong to the app.
    for (const [path, methods] of new Map(routed)) {
      const allowed = allowedOn(path)
      app.route({
        url: path.slice(app.prefix.length),
        method: METHODS.filter((method) => !methods.has(method)),
        handler: () => refuse(allowed),
      })
    }
  })
}

function addTo(map: Map<string, Set<string>>, path: string, methods: readonly string[]): void {
  const known = map.get(path) ?? new Set()
  for (const method of methods) known.add(method)
  map.set(path, known)
}

function refuse(allowed: string): never {
  throw methodNotAllowed(allowed)
}
