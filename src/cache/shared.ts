// What the handles of one name share in this process: loads under way, reads of this tick, and what was learnt.

import type { Runtime } from '../runtime/runtime.ts'
import { LocalLoads } from './local-loads.ts'
import type { Joinable } from './outcome.ts'
import { Reads } from './reads.ts'

const MOST_QUIET = 10_000
/** After Redis did not answer, loaders answer for so long without asking it. */
const AWAY_MS = 1000

const known = new WeakMap<Runtime, Map<string, unknown>>()

export class Shared<Value> {
  readonly reads: Reads
  /** By key: those that somebody may join. */
  readonly loads: Map<string, Joinable<Value>> = new Map()
  readonly local: LocalLoads<Value> = new LocalLoads()
  /** The question under way what time it is for the server. */
  learning: Promise<void> | null = null
  readonly #quiet = new Map<string, { token: number; until: number }>()
  #awayUntil = 0

  private constructor(runtime: Runtime) {
    this.reads = new Reads(runtime.runner)
  }

  static of<Value>(runtime: Runtime, name: string): Shared<Value> {
    const ofRuntime = known.get(runtime) ?? new Map<string, unknown>()
    known.set(runtime, ofRuntime)
    const before = ofRuntime.get(name)
    if (before !== undefined) return before as Shared<Value>
    const shared = new Shared<Value>(runtime)
    ofRuntime.set(name, shared)
    return shared
  }

  /** True while there is no point in asking for another value than this one: somebody loads, or it failed just now. */
  isQuiet(name: string, token: number): boolean {
    const quiet = this.#quiet.get(name)
    if (quiet === undefined) return false
    if (quiet.token === token && quiet.until > performance.now()) return true
    this.#quiet.delete(name)
    return false
  }

  hush(name: string, token: number, ms: number): void {
    if (this.#quiet.size >= MOST_QUIET) this.#quiet.clear()
    this.#quiet.set(name, { token, until: performance.now() + ms })
  }

  /** True while Redis is taken for away. */
  get away(): boolean {
    return performance.now() < this.#awayUntil
  }

  noteAway(): void {
    this.#awayUntil = performance.now() + AWAY_MS
  }
}
