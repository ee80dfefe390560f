// Connections that a server never answers on: it hangs, or has gone and nobody has closed them. They are closed, or a pool would have none
// but these for ever, though another server has taken the place of that one.

import { SinkError } from '../../counters/errors.ts'
import { startTimer } from '../../runtime/time/timer.ts'
import { causesOf } from './access.ts'

const SILENT_MS = 10_000

/**
 * As what a server answers to the first statement of a transaction, which waits for nobody's lock. Throws SinkError after ten seconds
 * without. Later ones may wait: a server that lives goes on with them, and another connection would wait beside it.
 */
export function answeredAtFirst<Answer>(answer: Promise<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = startTimer(() => reject(new Silent()), SILENT_MS).unref()
    answer.finally(() => timer.cancel()).then(resolve, reject)
  })
}

/** Whether the connection is of no more use: what else it is told would wait for the same answer. */
export function isSilent(error: unknown): boolean {
  return causesOf(error).some((one) => one instanceof Silent)
}

class Silent extends SinkError {
  constructor() {
    super(
      'sink-unreachable',
      `the database has not answered the first statement of a connection for ${SILENT_MS / 1000} seconds`,
    )
  }
}
