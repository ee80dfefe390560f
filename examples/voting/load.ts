// Votes of many people at once, through HTTP as they would come.

import { randomUUID } from 'node:crypto'

export interface LoadTerms {
  readonly seconds: number
  /** Requests under way at once. */
  readonly inFlight: number
  /** It ends after so many votes, too. */
  readonly most: number
  readonly signal: AbortSignal
}

export interface Outcome {
  /** What the names of its voters begin with. */
  readonly voters: string
  readonly seconds: number
  /** Votes that were answered as new. */
  counted: number
  /** Votes that were sent once more, and answered as known. */
  already: number
  /** Votes whose answer was another one, or none. */
  failed: number
  /** How long each answer took. */
  readonly ms: number[]
}

/** So often a vote is sent twice at once, as an impatient voter does. */
const TWICE = 10

/** Each vote is of a voter of its own. The first items are liked most. */
export async function load(url: string, items: readonly number[], terms: LoadTerms): Promise<Outcome> {
  const voters = `load-${randomUUID().slice(0, 8)}-`
  const outcome = { voters, counted: 0, already: 0, failed: 0, ms: [] }
  const began = performance.now()
  const endsAt = began + terms.seconds * 1000
  let sent = 0
  const goesOn = (): boolean => sent < terms.most && performance.now() < endsAt && !terms.signal.aborted
  const vote = async (): Promise<void> => {
    while (goesOn()) {
      const number = sent++
      const item = items[Math.floor(items.length * Math.random() ** 2)] ?? 0
      const times = number % TWICE === 0 ? 2 : 1
      await Promise.all(Array.from({ length: times }, () => send(url, item, `${voters}${number}`, outcome)))
    }
  }
  await Promise.all(Array.from({ length: terms.inFlight }, vote))
  return { ...outcome, seconds: (performance.now() - began) / 1000 }
}

async function send(
  url: string,
  item: number,
  user: string,
  outcome: Omit<Outcome, 'seconds'>,
): Promise<void> {
  const began = performance.now()
  const status = await statusOf(`${url}/items/${item}/votes`, JSON.stringify({ user }))
  outcome.ms.push(performance.now() - began)
  if (status === 201) outcome.counted += 1
  else if (status === 200) outcome.already += 1
  else outcome.failed += 1
}

async function statusOf(url: string, body: string): Promise<number> {
  try {
    const response = await fetch(url, { method: 'POST', body })
    await response.text()
    return response.status
  } catch {
    return 0
  }
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
