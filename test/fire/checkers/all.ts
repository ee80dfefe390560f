// What must hold of each structure. Whatever holds of every call is in calls.ts.

import type { Checker } from './checker.ts'
import { lock } from './lock.ts'
import { queue } from './queue.ts'

export const CHECKERS: Readonly<Record<string, Checker>> = {
  lock,
  queue,
  'queue-partitioned': queue,
}
