// Work that a request has under way, noted by the first middleware that started it. A route may use the same store
// twice (for all routes, and with other options for this one). The inner middleware would then wait for the outer one,
// which waits for the inner one.

const begunFor = new WeakMap<object, Set<string>>()

export function hasBegun(request: object, what: string): boolean {
  return begunFor.get(request)?.has(what) === true
}

/** Notes `what` until `over` settles. */
export function noteBegun(request: object, what: string, over: Promise<unknown>): void {
  const begun = begunFor.get(request) ?? new Set()
  begunFor.set(request, begun.add(what))
  const forget = (): void => void begun.delete(what)
  over.then(forget, forget)
}

/** The copy of a request shares the notes of the original. */
export function handOn(request: object, copy: object): void {
  const begun = begunFor.get(request)
  if (begun !== undefined) begunFor.set(copy, begun)
}
