// The structures of a run. A new one: a file beside this one, a line here, and a line in ../checkers/all.ts.

import { lock } from './lock.ts'
import { queue, queuePartitioned } from './queue.ts'
import type { Workload } from './workload.ts'

export const WORKLOADS: Readonly<Record<string, Workload>> = {
  lock,
  queue,
  'queue-partitioned': queuePartitioned,
}
