import { onTestFinished } from 'vitest'

/** Collects uncaught exceptions from here to the end of the test; the test runner does not see them. */
export function collectUncaught(): unknown[] {
  const uncaught: unknown[] = []
  const note = (error: unknown): void => void uncaught.push(error)
  const others = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  process.on('uncaughtException', note)
  onTestFinished(() => {
    process.off('uncaughtException', note)
    for (const listener of others) process.on('uncaughtException', listener)
  })
  return uncaught
}
