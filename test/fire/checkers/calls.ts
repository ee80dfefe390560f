// The invariants of every call of every structure: it settles in time, and with an outcome that its caller knows.

import type { Call } from '../history.ts'
import type { Terms } from '../terms.ts'
import { type Checker, instant } from './checker.ts'

/** How late a busy machine may make an answer. */
const SLACK_MS = 6000

export const calls: Checker = (history, terms) => [
  ...history.crashes.map((error) => `unhandled: ${error}`),
  ...history.calls.flatMap((call) => {
    const where = `${call.structure} ${call.what} ${call.key}, process ${call.process}, at ${instant(history, call.beganAt)}`
    if (call.outcome === 'hung') return [`hung: ${where}`]
    if (call.outcome === 'odd') return [`odd error: ${where}: ${call.error}`]
    const lateMs = (call.settledAt - call.beganAt) / 1000 - call.dueMs - stoppedMs(call, terms)
    return lateMs > SLACK_MS ? [`settled ${Math.round(lateMs)} ms too late: ${where}`] : []
  }),
]

function stoppedMs(call: Call, { stops }: Terms): number {
  const own = stops.filter(
    ({ process, fromUs, untilUs }) =>
      process === call.process && fromUs < call.settledAt && call.beganAt < untilUs,
  )
  return own.reduce((sum, { fromUs, untilUs }) => sum + (untilUs - fromUs) / 1000, 0)
}
