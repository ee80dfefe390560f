import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault } from './fault.ts'

/** What breaks here is not the servers' doing. */
export const none: Fault = { happen: () => sleep(1000) }
