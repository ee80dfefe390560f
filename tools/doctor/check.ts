import type { Finding } from './finding.ts'
import type { Server } from './server.ts'

export interface Check {
  /** Kebab-case; programs know it, so it never changes. */
  readonly id: string
  readonly title: string
  /** Whether `unknown` counts as a warning: what it is about decides over the safety of data. */
  readonly essential: boolean
  /** May take longer than one answer; the doctor gives up after the timeout times this. Default: 1. */
  readonly patience?: number
  examine(server: Server): Finding | Promise<Finding>
}
