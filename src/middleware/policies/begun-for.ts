// Work that a request has under way, noted by the first middleware that started it. A route may use the same store
// twice (for all routes, and with other options for this one). The inner middleware would then wait for the outer one,
// which waits for the inner one.
//
// The inner middleware may get another request object: code in between may pass on a copy, as Hono does to a mounted
// app. So in Hono the notes follow the calls, too, and on Node only for one message of the connection. Elsewhere they do
// not: a callback of a pool of connections runs in the context of another request, and a retry of that one would pass.

import { AsyncLocalStorage } from 'node:async_hooks'

/** What identifies a request. */
export interface RequestIdentity {
  readonly request: object
  /** The message of Node's connection that it was made of, if it is another object. */
  readonly message?: object | undefined
  /** Whether all middleware before the handler awaits it: then its calls tell which request they are for. */
  readonly isAwaited: boolean
}

interface Begun {
  readonly what: string
  readonly message: object | undefined
  /** What was begun around it. A list would be shared with other requests that the same handler sends. */
  readonly outer: Begun | undefined
  isOver: boolean
}

/** Calls the rest of the middleware, and the handler. */
export type Within = <Result>(rest: () => Result) => Result

const around = new AsyncLocalStorage<Begun>()
const begunFor = new WeakMap<object, Set<string>>()

export function hasBegun({ request, message, isAwaited }: RequestIdentity, what: string): boolean {
  for (const known of [request, message]) {
    if (known !== undefined && begunFor.get(known)?.has(what) === true) return true
  }
  if (!isAwaited) return false
  for (let begun = nearest(around.getStore()); begun !== undefined; begun = nearest(begun.outer)) {
    if (begun.what === what && begun.message === message) return true
  }
  return false
}

/** Notes `what` until `over` settles, for this request and for all that is called within. */
export function noteBegun(
  { request, message }: RequestIdentity,
  what: string,
  over: Promise<unknown>,
): Within {
  const own = begunFor.get(request) ?? new Set()
  begunFor.set(request, own.add(what))
  const begun: Begun = { what, message, outer: nearest(around.getStore()), isOver: false }
  const forget = (): void => {
    own.delete(what)
    begun.isOver = true
  }
  over.then(forget, forget)
  return (rest) => around.run(begun, rest)
}

/** A copy that a middleware of this package makes stands for the request. */
export function passOn(request: object, copy: object): void {
  const own = begunFor.get(request)
  if (own !== undefined) begunFor.set(copy, own)
}

function nearest(begun: Begun | undefined): Begun | undefined {
  let open = begun
  while (open?.isOver === true) open = open.outer
  return open
}
