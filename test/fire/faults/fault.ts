// The faults of a run, and what they may cost.

import type { Deal } from '../terms.ts'
import type { Stage } from '../topologies/topology.ts'

/** A process of the run. */
export interface Victim {
  readonly process: number
  /** SIGSTOP, and SIGCONT. */
  stop(): void
  goOn(): void
}

export interface Scene {
  readonly stage: Stage
  readonly victims: readonly Victim[]
  /** The schedule comes from it. */
  readonly luck: () => number
  /** Gets what the fault may cost, as it happens. */
  readonly deal: Deal
  /** The folder of the run; it contains files that its processes share. */
  readonly folder: string
  /** Whether what a primary has acknowledged may be lost with it. */
  readonly replicated: boolean
}

export interface Fault {
  /** The topologies that know it; default: all. */
  readonly on?: readonly string[]
  /** Resolves when nothing is wrong any more, but for what the topology mends by itself. */
  happen(scene: Scene): Promise<void>
}
