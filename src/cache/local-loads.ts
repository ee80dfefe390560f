// Loads without Redis: a bounded number at once in this process, and one per key at a time. The others queue while a
// caller waits for them; a load without a caller is dropped and delays no other.

import { LeaseLostError } from '../runtime/errors/errors.ts'
import { closed } from '../runtime/calls/runner.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { inMaxLoad, LoadContext, type Loader } from './loader.ts'
import type { CacheTerms } from './options.ts'

interface LocalTerms {
  readonly terms: CacheTerms
  readonly runtime: Runtime
  /** The name of the key in error messages. */
  readonly resource: string
  /** How the value is decoded: only a load of this kind is joined. */
  readonly kind: string
}

/** One load and its waiting callers. */
class LocalLoad<Value> {
  readonly key: string
  readonly kind: string
  readonly value: Promise<Value>
  readonly #run: () => Promise<Value>
  readonly #left: () => void
  #settle: (value: Promise<Value>) => void = () => undefined
  #waiting = 0

  /** `left`: called when no caller waits any more. */
  constructor(key: string, kind: string, run: () => Promise<Value>, left: () => void) {
    this.key = key
    this.kind = kind
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

  /**
   * The result of the loader, shared by all callers of the key meanwhile. Each caller calls `leave` when it stops
   * waiting.
   */
  load(key: string, loader: Loader<Value>, terms: LocalTerms): Pick<LocalLoad<Value>, 'value' | 'leave'> {
    const name = nameOf(key, terms.kind)
    const joined = this.#underWay.get(name)
    if (joined !== undefined) return joined.join()
    const load: LocalLoad<Value> = new LocalLoad(
      key,
      terms.kind,
      () => runAlone(key, loader, terms),
      () => this.#giveUp(load),
    )
    this.#underWay.set(name, load)
    if (this.#running < terms.terms.localConcurrency) this.#begin(load)
    else this.#line.add(load)
    return load.join()
  }

  /** No later caller joins a load under way, because this process has set or invalidated the key since. */
  forget(key: string): void {
    for (const [name, load] of this.#underWay) if (load.key === key) this.#underWay.delete(name)
  }

  /** Like `forget`, for all keys. */
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

  /** A load that has begun continues. */
  #giveUp(load: LocalLoad<Value>): void {
    if (this.#line.delete(load)) this.#over(load)
  }

  #over(load: LocalLoad<Value>): void {
    const name = nameOf(load.key, load.kind)
    if (this.#underWay.get(name) === load) this.#underWay.delete(name)
  }
}

function nameOf(key: string, kind: string): string {
  return `${kind}\0${key}`
}

async function runAlone<Value>(
  key: string,
  loader: Loader<Value>,
  { terms: { maxLoadMs }, runtime, resource }: LocalTerms,
): Promise<Value> {
  if (runtime.runner.closed) throw closed()
  const aborter = new AbortController()
  const context = new LoadContext(key, 0, () => aborter.signal)
  // The loader sees the same error as one with a lease.
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
