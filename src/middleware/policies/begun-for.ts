// What a request has under way, by the middleware of it that came first. The same store may stand on a route twice (for all routes, and with
// other options on this one): what comes second would wait for the first, which waits for what stands behind it.

const begunFor = new WeakMap<object, Set<string>>()

export function hasBegun(request: object, what: string): boolean {
  return begunFor.get(request)?.has(what) === true
}

/** Until it is over, however it ends. */
export function noteBegun(request: object, what: string, over: Promise<unknown>): void {
  const begun = begunFor.get(request) ?? new Set()
  begunFor.set(request, begun.add(what))
  const forget = (): void => void begun.delete(what)
  over.then(forget, forget)
}

/** A copy of the request has under way what that has. */
export function handOn(request: object, copy: object): void {
  const begun = begunFor.get(request)
  if (begun !== undefined) begunFor.set(copy, begun)
}
