// How long code of the user is waited for that answers later, and may never: a schema, a backoff. One job of which none comes keeps
// nobody from the others.

import type { Deadlines } from '../../runtime/time/deadlines.ts'
import { answered } from '../../runtime/time/in-time.ts'
import type { Runner } from '../../runtime/calls/runner.ts'

export interface AnswerTime {
  readonly deadlineMs: number
  /** What ends the waiting sooner. */
  readonly deadlines: Deadlines
}

/** Of a worker, which extends its jobs, and goes on with them while its instance closes. */
export function timeOfWorker({ deadlineMs, lastDeadlines }: Runner): AnswerTime {
  return { deadlineMs, deadlines: lastDeadlines }
}

/** Of a claim by hand with so much of its lease left: whoever claimed needs the rest, and nobody extends it yet. */
export function timeOfClaim({ deadlineMs, deadlines }: Runner, leftMs: number): AnswerTime {
  return { deadlineMs: Math.min(deadlineMs, leftMs / 2), deadlines }
}

/** Null where none has come in this time. Rejects as the answer. */
export function answeredIn<Value>(
  { deadlineMs, deadlines }: AnswerTime,
  answer: Value | PromiseLike<Value>,
): Promise<{ readonly value: Value } | null> {
  return answered(answer, performance.now() + deadlineMs, deadlines)
}
