// What the handles of one name share in this process: loads under way, reads of this tick, and what was learnt.

import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import type { Unit } from '../runtime/connection/unit.ts'
import { Ears } from './ear.ts'
import type { Tell } from './events.ts'
import { Generation } from './generation.ts'
import { Level, type LevelLimits } from './level.ts'
import { LocalLoads } from './local-loads.ts'
import type { Joinable } from './outcome.ts'
import { Reads } from './reads.ts'
import { unitIn } from './units.ts'
import { ValueReads } from './value-reads.ts'
import { WhileUsed } from './while-used.ts'

const MOST_QUIET = 10_000
/** After Redis did not answer, loaders answer for so long without asking it. */
const AWAY_MS = 1000

const known = new WeakMap<Runtime, WhileUsed<Shared<unknown>>>()

export class Shared<Value> {
  readonly reads: Reads
  readonly values: ValueReads
  readonly generation: Generation
  /** By key: those that somebody may join. */
  readonly loads: Map<string, Joinable<Value>> = new Map()
  readonly local: LocalLoads<Value> = new LocalLoads()
  /** The question under way what time it is for the server. */
  learning: Promise<void> | null = null
  readonly #quiet = new Map<string, { token: number; until: number }>()
  #awayUntil = 0
  readonly #unitOf: (key: string) => Unit
  readonly #ears: Ears
  readonly #among: WhileUsed<Shared<unknown>>
  #level: Level | null = null

  private constructor(runtime: Runtime, name: string, among: WhileUsed<Shared<unknown>>) {
    this.#among = among
    this.reads = new Reads(runtime)
    this.#ears = Ears.of(runtime)
    this.#unitOf = (key) => unitIn(runtime, name, key)
    const place = runtime.prefix('cache', name)
    this.values = new ValueReads(runtime, this.reads, place)
    const key = `${place}:generation`
    this.generation = new Generation((withinMs) => this.reads.get(key, withinMs))
  }

  static of<Value>(runtime: Runtime, name: string): Shared<Value> {
    const ofRuntime = known.get(runtime) ?? new WhileUsed<Shared<unknown>>()
    known.set(runtime, ofRuntime)
    const before = ofRuntime.find(name)
    if (before !== undefined) return before as Shared<Value>
    const shared = new Shared<Value>(runtime, name, ofRuntime)
    ofRuntime.add(name, shared as Shared<unknown>)
    return shared
  }

  /** Copies of values in this process; null: there is no level. */
  get level(): Level | null {
    return this.#level
  }

  /** All handles have one level. Throws InvalidArgumentError when it has other limits already. */
  openLevel(limits: LevelLimits, tell: Tell | null): void {
    const limited = this.#level?.limits
    if (limited === undefined) {
      const level = new Level(limits, this.#unitOf, this.#ears, {
        onBegin: () => this.#among.keep(this as Shared<unknown>, () => level.isOver()),
        onEvicted: (key) => tell?.({ kind: 'evicted', key }),
      })
      this.#level = level
    } else if (!sameLimits(limited, limits)) {
      throw new InvalidArgumentError('inProcess', 'must be the same for all handles of one cache')
    }
  }

  /** A value was set, or invalidated, or may have been: this process has nothing older of it any more. */
  forget(key: string): void {
    this.#level?.forget(key)
    this.local.forget(key)
  }

  /** As `forget`, of all values. */
  forgetAll(): void {
    this.#level?.clear()
    this.local.clear()
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

  /** True while Redis is taken for away. `now`: by `performance.now()`. */
  isAway(now: number): boolean {
    return now < this.#awayUntil
  }

  noteAway(): void {
    this.#awayUntil = performance.now() + AWAY_MS
  }
}

function sameLimits(one: LevelLimits, other: LevelLimits): boolean {
  return (
    one.count === other.count &&
    one.bytes === other.bytes &&
    one.ageMs === other.ageMs &&
    one.share === other.share
  )
}
