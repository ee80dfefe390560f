// Loads without Redis: so many at once in this process, and one of a key at a time.

import { inMaxLoad, LoadContext, type Loader } from './loader.ts'
import { closed } from '../runtime/runner.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Terms } from './options.ts'

interface LocalTerms {
  readonly terms: Terms
  readonly runtime: Runtime
}

export class LocalLoads<Value> {
  readonly #underWay = new Map<string, Promise<Value>>()
  readonly #line: (() => void)[] = []
  #running = 0

  /** What the loader makes; whoever asks for the same key meanwhile gets it too. */
  load(key: string, loader: Loader<Value>, { terms, runtime }: LocalTerms): Promise<Value> {
    const joined = this.#underWay.get(key)
    if (joined !== undefined) return joined
    const loading = this.#inTurn(key, loader, terms, runtime).finally(() => this.#underWay.delete(key))
    this.#underWay.set(key, loading)
    return loading
  }

  async #inTurn(
    key: string,
    loader: Loader<Value>,
    { localConcurrency, maxLoadMs }: Terms,
    runtime: Runtime,
  ): Promise<Value> {
    if (this.#running >= localConcurrency) await new Promise<void>((resolve) => this.#line.push(resolve))
    else this.#running += 1
    const aborter = new AbortController()
    const context = new LoadContext(key, 0, () => aborter.signal)
    const forget = runtime.atClose(() => aborter.abort(closed()))
    try {
      if (runtime.runner.closed) throw closed()
      return await inMaxLoad(() => loader(context), maxLoadMs, aborter)
    } finally {
      forget()
      // Its turn goes to the next in line.
      const next = this.#line.shift()
      if (next === undefined) this.#running -= 1
      else next()
    }
  }
}
