// Statements that a server never answers: it hangs, or has gone and nobody has closed the connection. Their connections are closed, or
// a pool would have none but these for ever, though another server has taken the place of that one.

import { SinkError } from '../counters/errors.ts'
import { startTimer } from '../runtime/timer.ts'
import { causesOf } from './access.ts'

const SILENT_MS = 60_000
/** The first statement of a transaction waits for nobody's lock. */
export const FIRST_MS = 10_000

/** As what a connection answers. Throws SinkError after so long without, and takes what comes later. */
export function answered<Answer>(answer: Promise<Answer>, ms: number = SILENT_MS): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = startTimer(() => reject(new Silent(ms)), ms)
    answer.then(
      (told) => {
        timer.cancel()
        resolve(told)
      },
      (error: unknown) => {
        timer.cancel()
        reject(error)
      },
    )
  })
}

/** Whether the connection is of no more use: what else it is told would wait for the same answer. */
export function isSilent(error: unknown): boolean {
  return causesOf(error).some((one) => one instanceof Silent)
}

class Silent extends SinkError {
  constructor(ms: number) {
    super('sink-unreachable', `the database has not answered a statement for ${ms / 1000} seconds`)
  }
}
