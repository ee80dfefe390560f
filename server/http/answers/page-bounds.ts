/**
 * Hidden messages, or names of queues, that one request for a page looks through; the next request continues after
 * them.
 */
export const LOOK_THROUGH = 10_000
/** One page of messages takes a few milliseconds of the single thread; the next request continues after it. */
export const PAGE_BOUNDS: { readonly lookThrough: number; readonly maxBytes: number } = {
  lookThrough: LOOK_THROUGH,
  maxBytes: 1024 * 1024,
}
