// How what is written outside of the library reaches the runtime of an instance.

import type { Runtime } from './runtime.ts'

/** An instance of Perilune, as far as generated modules need to know it. */
export interface HasRuntime {
  healthy(): boolean
  close(): Promise<void>
  /** @internal */
  readonly runtime: Runtime
}
