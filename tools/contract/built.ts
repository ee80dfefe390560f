import type { LineRun } from './contract.ts'
import type { Modules } from './modules.ts'
import type { Problem } from './problem.ts'

/** An operation with all that it uses. */
export interface Built {
  readonly source: string
  readonly lines: readonly LineRun[]
  /** What it may use, whether it does or not. */
  readonly modules: Modules
  /** Where its keys are listed; null where it declares them itself. */
  readonly keyFile: string | null
  readonly problems: readonly Problem[]
}
