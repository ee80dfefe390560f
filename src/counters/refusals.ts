// What the database refused, and keeps until it takes it: every flush that writes anything tries it again.

import type { Runtime } from '../runtime/runtime.ts'
import { countsOf, type RefusedCount } from './errors.ts'
import { OneAtATime } from './one-at-a-time.ts'
import { patiently } from './patiently.ts'
import type { Refusals } from './sink.ts'
import { sinkInTime } from './sink-in-time.ts'

export class KeptRefusals {
  readonly #runtime: Runtime
  readonly #retrying: OneAtATime
  /** As far as this process knows. */
  areKept = false

  constructor(runtime: Runtime) {
    this.#runtime = runtime
    this.#retrying = new OneAtATime(runtime.runner.deadlines)
  }

  /** Leaves them to the next flush while they are tried already. Throws SinkError, or the reason of the signal. */
  async retry(
    of: Partial<Refusals>,
    counters: string,
    { patienceMs, signal }: { readonly patienceMs: number; readonly signal?: AbortSignal | undefined },
  ): Promise<void> {
    const { deadlines } = this.#runtime.runner
    const retry = async (): Promise<boolean> => (await of.retryRefused?.(counters)) ?? false
    const tried = await patiently(() => this.#retrying.runUnlessBusy(retry), patienceMs, deadlines, signal)
    this.areKept = tried ?? true
  }

  /** Throws SinkError. */
  async list(of: Partial<Refusals>, counters: string): Promise<RefusedCount[]> {
    const { deadlineMs, deadlines } = this.#runtime.runner
    const refusals = of.refused?.(counters) ?? Promise.resolve([])
    return countsOf(await sinkInTime(refusals, performance.now() + deadlineMs, deadlines))
  }
}
