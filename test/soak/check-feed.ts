// The checker: from the history of a soak to its faults.

import { arrange, type History, type Window } from './arrange.ts'
import { checkClaims } from './check-claims.ts'
import { checkContents, doneBy, withoutTrace } from './check-contents.ts'
import { checkObservers } from './check-observers.ts'
import { type Fault, fault, sumUp } from './fault.ts'
import type { Line } from './history.ts'

export interface Verdict {
  /** Empty when all is well. */
  faults: Fault[]
  totals: Totals
}

interface Totals {
  acknowledged: number
  /** Appends whose answer never came, or came within a window. */
  unknown: number
  /** Among those, the messages that are neither in a feed nor done. */
  unknownAndAbsent: number
  /** Calls of any kind that certainly did not happen. */
  failed: number
  observers: number
  seen: number
  claims: number
  extended: number
  done: number
  /** Calls that got the answer that their claim had ended. */
  leasesLost: number
  /** Claims of messages that had been claimed before. */
  claimedAgain: number
  left: number
}

/** `windows`: when the deployment may lose what it acknowledged. */
export function checkFeedHistory(lines: readonly Line[], windows: readonly Window[] = []): Verdict {
  const history = arrange(lines, windows)
  const faults = [
    ...checkContents(history),
    ...checkObservers(history),
    ...checkClaims(history),
    ...fault('broken', history.broken),
  ]
  return { faults: sumUp(faults), totals: count(history) }
}

function count(history: History): Totals {
  const { operations, appends, seen, left } = history
  const tally = (op: string, outcome: string): number =>
    operations.filter((each) => each.op === op && each.outcome === outcome).length
  const claimed = operations.flatMap(({ op, answer }) => (op === 'claim' ? (answer.messages ?? []) : []))
  const unknown = [...appends.values()].filter(({ outcome }) => outcome === 'unknown')
  return {
    acknowledged: tally('append', 'ok'),
    unknown: unknown.length,
    unknownAndAbsent: withoutTrace(history, unknown).length,
    failed: operations.filter(({ outcome }) => outcome === 'failed').length,
    observers: seen.size,
    seen: [...seen.values()].reduce((sum, lines) => sum + lines.length, 0),
    claims: tally('claim', 'ok'),
    extended: tally('extend', 'ok'),
    done: doneBy(history).size,
    leasesLost: operations.filter(({ outcome }) => outcome === 'lost').length,
    claimedAgain: claimed.length - new Set(claimed).size,
    left: left.watched.length + left.worked.length,
  }
}
