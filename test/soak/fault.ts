// The possible findings of a checker. For each rule there is a sabotage that breaks it alone: order-sabotages.ts,
// claim-sabotages.ts, and for `reused`, which needs a loss, a test.

export type Rule =
  | 'lost' // an acknowledged message is neither in the feed nor done
  | 'invented' // there is a message that was not sent, or whose append had failed
  | 'twice' // a message is twice in a feed, was shown twice to one observer, or was done twice
  | 'renamed' // a message has another id than the answer to its append
  | 'reused' // an id was shown for one message and belongs to another
  | 'fallen' // ids do not rise in the order of the feed
  | 'missed' // an observer never saw a message and got no report of a gap
  | 'false alarm' // an observer got a report of a loss where nothing was lost
  | 'reordered' // an observer saw messages in another order than the feed has
  | 'real time' // an append that began after another one's answer stands before it
  | 'overlap' // two holders believed at once that they had claimed the same message
  | 'token' // the tokens of claims are not unique, or do not rise in real time
  | 'stale' // a claim was acked, extended or released after it had ended
  | 'undone' // a message that was acked is still there, or was claimed again
  | 'broken' // a process met something that must never happen

export interface Fault {
  rule: Rule
  count: number
  first: string
}

/** One fault of this rule, or none when nothing breaks it. */
export function fault(rule: Rule, found: readonly string[]): Fault[] {
  const [first] = found
  return first === undefined ? [] : [{ rule, count: found.length, first }]
}

/** Adds up faults of the same rule. */
export function sumUp(faults: readonly Fault[]): Fault[] {
  const sums = new Map<Rule, Fault>()
  for (const { rule, count, first } of faults) {
    const sum = sums.get(rule)
    if (sum === undefined) sums.set(rule, { rule, count, first })
    else sum.count += count
  }
  return [...sums.values()]
}
