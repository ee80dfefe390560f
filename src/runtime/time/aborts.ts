// Waits for the abort of a caller's signal. A signal gets one listener for all waiters, so that Node reports no leak;
// it is removed with the last waiter. `AbortSignal.any` is not used, because its result cannot be detached from a
// signal that lives as long as the process.

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

  /** A task may cancel others. */
  #runAll(): void {
    const tasks = [...this.#tasks]
    for (const task of tasks) if (this.#tasks.delete(task)) task.run()
  }
}

const ears = new WeakMap<AbortSignal, Ear>()

/**
 * Runs the task once when the signal aborts, or at once if it has. The task must not throw. Returns a function that
 * cancels it. A null signal is accepted as no signal.
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

/** Aborts with the first abort of its signals, for the same reason, until it is detached from them. */
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

  /** Also detaches from all signals. */
  abort(reason: unknown): void {
    this.part()
    this.#aborter.abort(reason)
  }

  /** Removes its listeners from all signals. */
  part(): void {
    for (const forget of this.#forgets.splice(0)) forget()
  }
}

function nothing(): void {}
