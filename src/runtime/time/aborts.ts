// Who waits for the abort of a signal of the caller. However many wait, the signal has one listener, so that Node warns of
// no leak; it goes with the last of them. `AbortSignal.any` is not used: what it makes cannot be taken off a signal that
// lives as long as the process.

type Task = () => void

class Ear {
  readonly #signal: AbortSignal
  readonly #tasks = new Set<{ run: Task }>()
  readonly #hear = (): void => this.#runAll()

  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  add(run: Task): () => void {
    const task = { run }
    if (this.#tasks.size === 0) this.#signal.addEventListener('abort', this.#hear, { once: true })
    this.#tasks.add(task)
    return () => this.#remove(task)
  }

  #remove(task: { run: Task }): void {
    if (this.#tasks.delete(task) && this.#tasks.size === 0) {
      this.#signal.removeEventListener('abort', this.#hear)
    }
  }

  /** A task may stop others. */
  #runAll(): void {
    const tasks = [...this.#tasks]
    for (const task of tasks) if (this.#tasks.delete(task)) task.run()
  }
}

const ears = new WeakMap<AbortSignal, Ear>()

/**
 * Runs the task once when the signal aborts, or now where it has. The task must not throw. Returns how to stop it. Callers hand in null,
 * too, where they have no signal.
 */
export function onAbort(signal: AbortSignal | null | undefined, task: Task): () => void {
  if (!signal) return nothing
  if (signal.aborted) {
    task()
    return nothing
  }
  const known = ears.get(signal)
  if (known !== undefined) return known.add(task)
  const ear = new Ear(signal)
  ears.set(signal, ear)
  return ear.add(task)
}

/** Aborts with the first of the signals that it was joined to, for the same reason, until it parts with them. */
export class Joined {
  readonly #aborter = new AbortController()
  readonly #forgets: (() => void)[] = []

  constructor(signals: readonly AbortSignal[] = []) {
    for (const signal of signals) this.join(signal)
  }

  get signal(): AbortSignal {
    return this.#aborter.signal
  }

  join(signal: AbortSignal): void {
    this.#forgets.push(onAbort(signal, () => this.abort(signal.reason)))
  }

  /** Parts with all signals, too. */
  abort(reason: unknown): void {
    this.part()
    this.#aborter.abort(reason)
  }

  /** Leaves nothing on any of the signals. */
  part(): void {
    for (const forget of this.#forgets.splice(0)) forget()
  }
}

function nothing(): void {}
