// Connections that a server never answers on: it hangs, or it disappeared without closing them. They are closed here.
// Otherwise a pool would only have such connections forever, even after another server has taken over.

import { SinkError } from '../../counters/errors.ts'
import { startTimer } from '../../runtime/time/timer.ts'
import { causesOf } from './access.ts'

const SILENT_MS = 10_000

/**
 * Awaits the answer to the first statement of a transaction, which waits for no lock. Throws SinkError after ten
 * seconds without an answer. Later statements may wait for locks: a live server completes them, and another connection
 * would only wait as well.
 */
export function answeredAtFirst<Answer>(answer: Promise<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = startTimer(() => reject(new Silent()), SILENT_MS).unref()
    answer.finally(() => timer.cancel()).then(resolve, reject)
  })
}

/** Whether the connection is useless: further statements would wait for the same answer. */
export function isSilent(error: unknown): boolean {
  return causesOf(error).some((one) => one instanceof Silent)
}

class Silent extends SinkError {
  constructor() {
    super(
      'sink-unreachable',
      `the database has not answered the first statement of a connection within ${SILENT_MS / 1000} seconds`,
    )
  }
}
