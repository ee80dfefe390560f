// A new one: a file beside this one, and a line here.

import { cut } from './cut.ts'
import { failover } from './failover.ts'
import type { Fault } from './fault.ts'
import { none } from './none.ts'

export const FAULTS: Readonly<Record<string, Fault>> = { none, cut, failover }
