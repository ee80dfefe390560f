import type { Runtime } from '../runtime/runtime.ts'
import { type Flushed, flushShard } from './flushing.ts'
import type { Source } from './source.ts'

/** Flushes again and again until it is closed. Any number of them may run, in any number of processes. */
export class Flushing implements AsyncDisposable {
  readonly #runtime: Runtime
  readonly #flush: () => Promise<unknown>
  readonly #everyMs: number
  readonly #onError: (error: unknown) => void
  readonly #aborter = new AbortController()
  readonly #done: Promise<void>
  #closed: Promise<void> | undefined
  #wake: () => void = () => undefined

  /** @internal */
  constructor(
    runtime: Runtime,
    flush: () => Promise<unknown>,
    everyMs: number,
    onError: (error: unknown) => void,
  ) {
    this.#runtime = runtime
    this.#flush = flush
    this.#everyMs = everyMs
    this.#onError = onError
    this.#done = this.#run()
  }

  /** Ends the loop; flushes what is pending first, unless the database is away. */
  close(): Promise<void> {
    return (this.#closed ??= this.#close())
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    this.#aborter.abort()
    this.#wake()
    await this.#done
    await this.#flushAll()
  }

  async #run(): Promise<void> {
    while (this.#goesOn) {
      await this.#sleep()
      if (!this.#goesOn) return
      await this.#flushAll()
    }
  }

  /** Once the library is closed there is nothing to flush with. */
  get #goesOn(): boolean {
    return !this.#aborter.signal.aborted && !this.#runtime.runner.closed
  }

  #sleep(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#everyMs)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  async #flushAll(): Promise<void> {
    await this.#flush().catch(this.#onError)
  }
}

/** Flushes all shards. Throws the first error once all are through. */
export async function flushAll(source: Source, signal?: AbortSignal): Promise<Flushed> {
  const limits = { patienceMs: source.runtime.runner.deadlineMs, signal }
  const all = await Promise.allSettled(source.shards.map((shard) => flushShard(source, shard, limits)))
  const failed = all.find((each) => each.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  const flushed = all.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  return {
    batches: flushed.reduce((sum, { batches }) => sum + batches, 0),
    counters: flushed.reduce((sum, { counters }) => sum + counters, 0),
  }
}
