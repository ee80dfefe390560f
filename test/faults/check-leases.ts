// Judges what holders of one lock believed. Times are of one clock, in milliseconds.

export interface Held {
  readonly token: number
  readonly shared: boolean
  /** When its holder learned that it had the lock. */
  readonly from: number
  /** When its holder gave it back, or learned that it had lost it. */
  readonly until: number
}

/** The faults of a history of leases, in words. */
export function checkLeases(history: readonly Held[]): string[] {
  return [...checkUnique(history), ...checkAlone(history), ...checkRising(history)]
}

function checkUnique(history: readonly Held[]): string[] {
  const seen = new Set<number>()
  return history.flatMap(({ token }) => {
    if (seen.has(token)) return [`token ${token} was granted twice`]
    seen.add(token)
    return []
  })
}

function checkAlone(history: readonly Held[]): string[] {
  const sorted = history.toSorted((a, b) => a.from - b.from)
  return sorted.flatMap((one, at) =>
    sorted
      .slice(at + 1)
      .filter((other) => other.from < one.until && !(one.shared && other.shared))
      .map((other) => `${one.token} and ${other.token} were held at once`),
  )
}

/**
 * A lease that was over before another was believed has the smaller token. Readers who were let in together
 * may learn of it in any order.
 */
function checkRising(history: readonly Held[]): string[] {
  return history.flatMap((one) =>
    history
      .filter((later) => !(one.shared && later.shared) && one.until <= later.from && later.token < one.token)
      .map((later) => `${later.token} was granted after ${one.token}`),
  )
}
