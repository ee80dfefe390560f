import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault } from './fault.ts'

/** Failures here are not caused by the servers. */
export const none: Fault = { happen: () => sleep(1000) }
