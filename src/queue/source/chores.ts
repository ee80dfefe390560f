// What scripts cannot do by themselves: another slot is out of their reach, and they know no time zones. A claim tells
// the process that it has to be seen to; whoever is told does it. Each chore may be done twice, and by several at once.

import { CHORES } from '../../generated/bits.ts'
import type { Runtime } from '../../runtime/connection/runtime.ts'
import { Errand } from './errand.ts'

/** What nobody else may come for: it is tried again until it has been done. */
const INSISTS: Chore = 'deliver'
const NOTHING_TO_DO: Promise<void> = Promise.resolve()

export type Chore = keyof typeof CHORES
type Tasks = { readonly [Name in Chore]: () => Promise<void> }

/** Of each instance those that are not idle: an instance has many handles of one queue, and one of each of its chores. */
const errands = new WeakMap<Runtime, Map<string, Errand>>()

export class Chores {
  readonly #runtime: Runtime
  readonly #queue: string
  readonly #tasks: Tasks

  /** `queue` names it among all that the instance knows. */
  constructor(runtime: Runtime, queue: string, tasks: Tasks) {
    this.#runtime = runtime
    this.#queue = queue
    this.#tasks = tasks
  }

  /** Resolves when all is done, or has failed: then it is told again by the next claim. */
  see(bits: number): Promise<void> {
    return bits === 0 ? NOTHING_TO_DO : this.#see(bits)
  }

  async #see(bits: number): Promise<void> {
    const chores = (Object.entries(CHORES) as [Chore, number][]).filter(([, bit]) => (bits & bit) !== 0)
    await Promise.all(chores.map(([name]) => this.#errand(name).tell()))
  }

  #errand(name: Chore): Errand {
    const those = errands.get(this.#runtime) ?? new Map<string, Errand>()
    errands.set(this.#runtime, those)
    const key = `${name} ${this.#queue}`
    const known = those.get(key)
    if (known !== undefined) return known
    const terms = { insists: name === INSISTS, task: this.#tasks[name], onIdle: () => void those.delete(key) }
    const errand = new Errand(this.#runtime, terms)
    those.set(key, errand)
    return errand
  }
}
