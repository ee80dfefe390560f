// Background work that must succeed eventually, however long the server is unreachable. No caller waits for it.

import { isFinal } from '../errors/outage.ts'
import { Retries } from './retries.ts'
import { startTimer } from './timer.ts'

const FIRST_RETRY_MS = 100
const LAST_RETRY_MS = 5000

/**
 * Retries until it succeeds, fails with an error that `isOver` accepts, or would always fail; `failure` is the error of
 * the first attempt. Never rejects. Keeps no process alive.
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

/**
 * Does the work, and rejects as it does. The caller will not retry, so failed work is retried in the background, unless
 * the error `isOver`.
 */
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
