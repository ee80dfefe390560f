// Work that a request has under way, noted by the first middleware that started it. A route may use the same store
// twice (for all routes, and with other options for this one). The inner middleware would then wait for the outer one,
// which waits for the inner one.
//
// The inner middleware may get another request object: code in between may pass on a copy, as Hono does to a mounted
// app. On Node the message of the connection stays the same, and identifies the request. Elsewhere the notes follow the
// calls, too. They must not do so on Node: a callback of a pool of connections runs in the context of another request,
// and a retry of that one would pass.

import { AsyncLocalStorage } from 'node:async_hooks'

interface Begun {
  readonly what: string
  /** What was begun around it. A list would be shared with other requests that the same handler sends. */
  readonly outer: Begun | undefined
  isOver: boolean
}

/** Calls the rest of the middleware, and the handler. */
export type Within = <Result>(rest: () => Result) => Result

const around = new AsyncLocalStorage<Begun>()
const begunFor = new WeakMap<object, Set<string>>()

/** What identifies a request. */
export interface RequestIdentity {
  readonly request: object
  /** Whether all code that the request passes gets this object, or one that leads to it. */
  readonly isLasting: boolean
}

export function hasBegun({ request, isLasting }: RequestIdentity, what: string): boolean {
  if (begunFor.get(request)?.has(what) === true) return true
  if (isLasting) return false
  for (let begun = around.getStore(); begun !== undefined; begun = begun.outer) {
    if (begun.what === what && !begun.isOver) return true
  }
  return false
}

/** Notes `what` until `over` settles, for this request and for all that is called within. */
export function noteBegun({ request }: RequestIdentity, what: string, over: Promise<unknown>): Within {
  const own = begunFor.get(request) ?? new Set()
  begunFor.set(request, own.add(what))
  const begun: Begun = { what, outer: around.getStore(), isOver: false }
  const forget = (): void => {
    own.delete(what)
    begun.isOver = true
  }
  over.then(forget, forget)
  return (rest) => around.run(begun, rest)
}
