// The requirements for every driver, independent of any test runner: run the cases of `casesFor`.

import type { DriverCase } from './driver-context.ts'
import { failoverCases } from './driver-failovers.ts'
import { faultCases } from './driver-faults.ts'
import { readCases } from './driver-reads.ts'
import { reconnectingCases } from './driver-reconnection.ts'
import { replyCases } from './driver-replies.ts'
import { subscriptionCases } from './driver-subscriptions.ts'

export {
  casesFor,
  type DriverCase,
  type DriverContext,
  type Need,
  type OpenedDriver,
} from './driver-context.ts'

export const driverSuite: readonly DriverCase[] = [
  ...replyCases,
  ...readCases,
  ...subscriptionCases,
  ...failoverCases,
  ...faultCases,
  ...reconnectingCases,
]
