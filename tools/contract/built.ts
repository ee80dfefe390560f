import type { LineRun } from './contract.ts'
import type { KeyList } from './key-list.ts'
import type { Modules } from './modules.ts'
import type { Problem } from './problem.ts'

/** An operation with all that it uses. */
export interface Built {
  readonly source: string
  readonly lines: readonly LineRun[]
  /** What it may use, whether it does or not. */
  readonly modules: Modules
  /** Null where it declares its keys itself. */
  readonly keyList: KeyList | null
  readonly problems: readonly Problem[]
}
