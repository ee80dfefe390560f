// Loads without Redis: so many at once in this process, and one of a key at a time.

import { LeaseLostError } from '../runtime/errors.ts'
import { closed } from '../runtime/runner.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { inMaxLoad, LoadContext, type Loader } from './loader.ts'
import type { Terms } from './options.ts'

interface LocalTerms {
  readonly terms: Terms
  readonly runtime: Runtime
  /** What errors call the key. */
  readonly resource: string
}

export class LocalLoads<Value> {
  readonly #underWay = new Map<string, Promise<Value>>()
  readonly #line: (() => void)[] = []
  #running = 0

  /** What the loader makes; whoever asks for the same key meanwhile gets it too. */
  load(key: string, loader: Loader<Value>, terms: LocalTerms): Promise<Value> {
    const joined = this.#underWay.get(key)
    if (joined !== undefined) return joined
    const loading = this.#inTurn(key, loader, terms).finally(() => {
      if (this.#underWay.get(key) === loading) this.#underWay.delete(key)
    })
    this.#underWay.set(key, loading)
    return loading
  }

  /** Nobody joins what is under way: what this process has set or invalidated since is newer. */
  forget(key: string): void {
    this.#underWay.delete(key)
  }

  /** As `forget`, of all keys. */
  clear(): void {
    this.#underWay.clear()
  }

  async #inTurn(
    key: string,
    loader: Loader<Value>,
    { terms: { localConcurrency, maxLoadMs }, runtime, resource }: LocalTerms,
  ): Promise<Value> {
    if (this.#running >= localConcurrency) await new Promise<void>((resolve) => this.#line.push(resolve))
    else this.#running += 1
    const aborter = new AbortController()
    const context = new LoadContext(key, 0, () => aborter.signal)
    // A loader need not know that it has no lease.
    const lost = new LeaseLostError(resource, 0, { cause: closed() })
    const forget = runtime.atClose(() => aborter.abort(lost))
    try {
      if (runtime.runner.closed) throw closed()
      return await inMaxLoad(() => loader(context), maxLoadMs, aborter)
    } catch (error) {
      throw error === lost ? closed() : error
    } finally {
      forget()
      // Its turn goes to the next in line.
      const next = this.#line.shift()
      if (next === undefined) this.#running -= 1
      else next()
    }
  }
}
