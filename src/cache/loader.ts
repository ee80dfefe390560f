// What loads values: a function of the caller, and what it is given.

import { MaxRunError } from '../runtime/errors/errors.ts'
import { type Freshness, toSpan, type Span } from './options.ts'
import { checkInteger, checkOptions } from '../runtime/values/arguments.ts'
import { startTimer } from '../runtime/time/timer.ts'

/** Makes the value of a key. `null` and `undefined`: there is none, which is kept too (`negativeFor`). */
export type Loader<Value> = (context: LoadContext) => Value | Promise<Value>

/** What a loader may say of the value it has found. */
export interface Kept extends Freshness {
  /** As in `set`: refused when a greater one is known. */
  version?: number
}

/** What a loader is given. */
export class LoadContext {
  readonly key: string
  /** Greater than that of every earlier load of the key; 0 while Redis is away. */
  readonly token: number
  readonly #signal: () => AbortSignal
  #kept: Kept = {}

  constructor(key: string, token: number, signal: () => AbortSignal) {
    this.key = key
    this.token = token
    this.#signal = signal
  }

  /** Aborts when the load takes longer than `maxLoad`, when its lease is lost, and soon after an invalidation. */
  get signal(): AbortSignal {
    return this.#signal()
  }

  /** How long the value counts, and its version, where the loader knows better. Throws InvalidArgumentError. */
  keep(kept: Kept): void {
    checkOptions('kept', kept, ['freshFor', 'staleFor', 'version'])
    toSpan(kept, { freshMs: 0, staleMs: 0 })
    if (kept.version !== undefined) checkVersion(kept.version)
    this.#kept = kept
  }

  /** @internal What was said by `keep`. */
  kept(otherwise: Span): Span & { version: number } {
    return { ...toSpan(this.#kept, otherwise), version: this.#kept.version ?? 0 }
  }
}

/** Throws InvalidArgumentError. */
export function checkVersion(version: unknown): number {
  return checkInteger('version', version, 1, Number.MAX_SAFE_INTEGER)
}

/** What the work resolves to; rejects when `aborter` aborts, which it does with MaxRunError after `maxLoadMs`. */
export function inMaxLoad<Value>(
  work: () => Value | Promise<Value>,
  maxLoadMs: number,
  aborter: AbortController,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = startTimer(() => aborter.abort(new MaxRunError(maxLoadMs)), maxLoadMs)
    const abort = (): void => {
      timer.cancel()
      reject(aborter.signal.reason)
    }
    aborter.signal.addEventListener('abort', abort, { once: true })
    const working = new Promise<Value>((begun) => begun(work()))
    working.then(resolve, reject).finally(() => timer.cancel())
  })
}
