/** Hidden messages, or names of queues, that one request for a page looks through; the next request goes on behind them. */
export const LOOK_THROUGH = 10_000
/** One page of messages is a few milliseconds of the one thread that serves all; the next request goes on behind it. */
export const PAGE_BOUNDS: { readonly lookThrough: number; readonly maxBytes: number } = {
  lookThrough: LOOK_THROUGH,
  maxBytes: 1024 * 1024,
}
