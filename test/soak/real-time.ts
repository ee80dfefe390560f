export interface Interval {
  readonly calledAt: number
  /** Infinity when no answer came. */
  readonly answeredAt: number
}

/** Those that began after the answer of one that follows them in the order. */
export function realTimeBreaches<Item extends Interval>(order: readonly Item[]): Item[] {
  const breaches: Item[] = []
  let earliestAnswer = Infinity
  for (const item of order.toReversed()) {
    if (item.calledAt > earliestAnswer) breaches.push(item)
    earliestAnswer = Math.min(earliestAnswer, item.answeredAt)
  }
  return breaches
}
