// The possible findings of a checker of the queue.

export type QueueRule =
  | 'lost' // an acknowledged job is neither done nor dead
  | 'invented' // a job ran that was not enqueued, or whose enqueue had been refused
  | 'twice' // a job was enqueued twice, or two attempts of it were acked
  | 'attempts' // an attempt is counted twice, is one too many, or a job died before its last, or of nothing
  | 'token' // a token is not unique, or does not rise from one attempt of a job to the next
  | 'stale' // an attempt settled its job although another one had begun it
  | 'overlap' // an attempt began while another one of the same job had its lease
  | 'early' // a delayed job began before it was due
  | 'order' // a job began before one that was there when it came, of its priority or a higher one
  | 'cancelled' // a job that was cancelled is still there, or went on
  | 'limit' // more jobs were claimed at once than queue or group allow
  | 'untold' // an attempt of a live process never got its outcome
  | 'counters' // the counts of the queue do not fit each other, or the log
  | 'left' // something is left of jobs that are gone
  | 'family' // a job began before its dependency was done, or did not do what it should after its dependency's death
  | 'step' // what follows a job is not there although that is done, or is there although it is not
  | 'broken' // a process met something that must never happen

export interface QueueFault {
  readonly rule: QueueRule
  readonly count: number
  readonly first: string
}

/** One fault of this rule, or none when nothing breaks it. */
export function faultOf(rule: QueueRule, found: readonly string[]): QueueFault[] {
  const [first] = found
  return first === undefined ? [] : [{ rule, count: found.length, first }]
}
