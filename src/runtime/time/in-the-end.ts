// What is to be told however long the server is away, behind the back of whoever would have told it: nobody waits for it.

import { isFinal } from '../errors/outage.ts'
import { Retries } from './retries.ts'
import { startTimer } from './timer.ts'

const FIRST_RETRY_MS = 100
const LAST_RETRY_MS = 5000

/**
 * Tries until it does not fail, fails so that `isOver`, or would fail for ever; `failure` is what has failed until now. Rejects
 * never. Keeps no process alive.
 */
export async function inTheEnd(
  work: () => Promise<unknown>,
  failure: unknown,
  isOver: (failure: unknown) => boolean = () => false,
): Promise<void> {
  const retries = new Retries(FIRST_RETRY_MS, LAST_RETRY_MS)
  for (let last = failure; !isFinal(last) && !isOver(last); ) {
    await new Promise<void>((resolve) => startTimer(resolve, retries.after(last)).unref())
    try {
      return void (await work())
    } catch (error) {
      last = error
    }
  }
}

/** Does the work, and rejects as it does. Nobody is there to do it again: what was in vain is done in the end, unless it `isOver` by then. */
export async function nowOrInTheEnd(
  work: () => Promise<void>,
  isOver: (failure: unknown) => boolean,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    void inTheEnd(work, error, isOver)
    throw error
  }
}
