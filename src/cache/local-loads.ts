// Loads without Redis: so many at once in this process, and one of a key at a time. The others stand in line, for as long as somebody
// waits for them: what nobody wants any more is not loaded, and keeps nobody waiting.

import { LeaseLostError } from '../runtime/errors/errors.ts'
import { closed } from '../runtime/calls/runner.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { inMaxLoad, LoadContext, type Loader } from './loader.ts'
import type { CacheTerms } from './options.ts'

interface LocalTerms {
  readonly terms: CacheTerms
  readonly runtime: Runtime
  /** What errors call the key. */
  readonly resource: string
}

/** One load, and those who wait for it. */
class LocalLoad<Value> {
  readonly key: string
  readonly value: Promise<Value>
  readonly #run: () => Promise<Value>
  readonly #left: () => void
  #settle: (value: Promise<Value>) => void = () => undefined
  #waiting = 0

  /** `left`: called when nobody waits any more. */
  constructor(key: string, run: () => Promise<Value>, left: () => void) {
    this.key = key
    this.#run = run
    this.#left = left
    this.value = new Promise((resolve) => (this.#settle = resolve))
  }

  begin(): Promise<Value> {
    this.#settle(this.#run())
    return this.value
  }

  join(): this {
    this.#waiting += 1
    return this
  }

  leave(): void {
    this.#waiting -= 1
    if (this.#waiting === 0) this.#left()
  }
}

export class LocalLoads<Value> {
  readonly #underWay = new Map<string, LocalLoad<Value>>()
  readonly #line = new Set<LocalLoad<Value>>()
  #running = 0

  /** What the loader makes. Whoever asks for the same key meanwhile gets it too; each says by `leave` when he waits no more. */
  load(key: string, loader: Loader<Value>, terms: LocalTerms): Pick<LocalLoad<Value>, 'value' | 'leave'> {
    const joined = this.#underWay.get(key)
    if (joined !== undefined) return joined.join()
    const load: LocalLoad<Value> = new LocalLoad(
      key,
      () => runAlone(key, loader, terms),
      () => this.#giveUp(load),
    )
    this.#underWay.set(key, load)
    if (this.#running < terms.terms.localConcurrency) this.#begin(load)
    else this.#line.add(load)
    return load.join()
  }

  /** Nobody joins what is under way: what this process has set or invalidated since is newer. */
  forget(key: string): void {
    this.#underWay.delete(key)
  }

  /** As `forget`, of all keys. */
  clear(): void {
    this.#underWay.clear()
  }

  #begin(load: LocalLoad<Value>): void {
    this.#running += 1
    const over = (): void => {
      this.#running -= 1
      this.#over(load)
      const [next] = this.#line
      if (next === undefined) return
      this.#line.delete(next)
      this.#begin(next)
    }
    load.begin().then(over, over)
  }

  /** One that has begun goes on. */
  #giveUp(load: LocalLoad<Value>): void {
    if (this.#line.delete(load)) this.#over(load)
  }

  #over(load: LocalLoad<Value>): void {
    if (this.#underWay.get(load.key) === load) this.#underWay.delete(load.key)
  }
}

async function runAlone<Value>(
  key: string,
  loader: Loader<Value>,
  { terms: { maxLoadMs }, runtime, resource }: LocalTerms,
): Promise<Value> {
  if (runtime.runner.closed) throw closed()
  const aborter = new AbortController()
  const context = new LoadContext(key, 0, () => aborter.signal)
  // A loader need not know that it has no lease.
  const lost = new LeaseLostError(resource, 0, { cause: closed() })
  const forget = runtime.atClose(() => aborter.abort(lost))
  try {
    return await inMaxLoad(() => loader(context), maxLoadMs, aborter)
  } catch (error) {
    throw error === lost ? closed() : error
  } finally {
    forget()
  }
}
