// Loads of several keys at once: one call of the loader for all keys that this process was elected for.

import type { LoadContext, Loader } from './loader.ts'

/** Makes the values of several keys. A key that is not in the map has none, which is kept as `undefined`. */
export type ManyLoader<Value> = (
  keys: readonly string[],
  context: ManyContext,
) => ReadonlyMap<string, Value> | Promise<ReadonlyMap<string, Value>>

/** What a loader of several keys is given. */
export interface ManyContext {
  /** Aborts when none of the values is wanted any more. */
  readonly signal: AbortSignal
}

interface Elected<Value> {
  readonly key: string
  readonly context: LoadContext
  resolve(value: Value): void
  reject(error: unknown): void
}

/** Gathers the keys that this process loads, until it is known of each whether it does. */
export class Gathering<Value> {
  readonly #loadMany: ManyLoader<Value>
  readonly #undecided: Set<string>
  #elected: Elected<Value>[] = []

  constructor(keys: readonly string[], loadMany: ManyLoader<Value>) {
    this.#loadMany = loadMany
    this.#undecided = new Set(keys)
  }

  /** How one of its keys is loaded. */
  of(key: string): { loader: Loader<Value>; passed(): void } {
    return { loader: (context) => this.#join(context), passed: () => this.#pass(key) }
  }

  #join(context: LoadContext): Promise<Value> {
    return new Promise((resolve, reject) => {
      this.#elected.push({ key: context.key, context, resolve, reject })
      this.#undecided.delete(context.key)
      this.#loadSoon()
    })
  }

  /** Another process loads this key, or nobody has to. */
  #pass(key: string): void {
    if (this.#undecided.delete(key)) this.#loadSoon()
  }

  #loadSoon(): void {
    if (this.#undecided.size === 0) process.nextTick(() => void this.#load())
  }

  async #load(): Promise<void> {
    const elected = this.#elected
    this.#elected = []
    if (elected.length === 0) return
    try {
      const keys = elected.map(({ key }) => key)
      const values = await this.#loadMany(keys, { signal: whenAllAbort(elected) })
      for (const { key, resolve } of elected) resolve(values.get(key) as Value)
    } catch (error) {
      for (const { reject } of elected) reject(error)
    }
  }
}

function whenAllAbort(elected: readonly Elected<unknown>[]): AbortSignal {
  const aborter = new AbortController()
  let left = elected.length
  for (const { context } of elected) {
    const { signal } = context
    const abort = (): void => {
      left -= 1
      if (left === 0) aborter.abort(signal.reason)
    }
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  }
  return aborter.signal
}
