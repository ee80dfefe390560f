// For a new one: a file next to this one, and a line here.

import { clock } from './clock.ts'
import { cut } from './cut.ts'
import { delay } from './delay.ts'
import { emptied } from './emptied.ts'
import { failover } from './failover.ts'
import type { Fault } from './fault.ts'
import { fullMemory } from './full-memory.ts'
import { halfOpen } from './half-open.ts'
import { kill } from './kill.ts'
import { lateCopies } from './late-copies.ts'
import { addedMaster, movedSlots } from './moved-slots.ts'
import { none } from './none.ts'
import { olderDatabase } from './older-database.ts'
import { restore } from './restore.ts'
import { rights } from './rights.ts'
import { scriptFlush } from './script-flush.ts'
import { stoppedPrimary } from './stopped-primary.ts'
import { stoppedProcess } from './stopped-process.ts'

export const FAULTS: Readonly<Record<string, Fault>> = {
  none,
  cut,
  'late-copies': lateCopies,
  delay,
  'half-open': halfOpen,
  'stopped-process': stoppedProcess,
  'script-flush': scriptFlush,
  'full-memory': fullMemory,
  rights,
  clock,
  restore,
  'older-database': olderDatabase,
  failover,
  kill,
  'moved-slots': movedSlots,
  'added-master': addedMaster,
  'stopped-primary': stoppedPrimary,
  emptied,
}
