// What the database refused, and keeps until it takes it: every flush that writes anything tries it again.

import { brand } from '../driver.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { SinkError } from './errors.ts'
import type { Refusal, Refusals } from './sink.ts'
import { OneAtATime, patiently, sinkInTime } from './sink-calls.ts'
import { type CounterValue, toValue } from './value.ts'

const MOST_UNTOLD = 1000

/** What was counted of a counter that the database refused: it is kept in `perilune_refused`, and tried again. */
export interface RefusedCount {
  readonly id: string
  readonly by: CounterValue
  /** What the database said. */
  readonly why: string
}

/** The database has refused rows of some counters, and has what else there was. */
export class RefusedError extends SinkError {
  static {
    brand(this, 'RefusedError')
  }

  /** What it refused, each counter once. */
  readonly refused: readonly RefusedCount[]

  constructor(sink: string, refusals: readonly Refusal[]) {
    const refused = countsOf(refusals)
    const [first] = refused
    const named = first === undefined ? 'rows' : `the row of ${JSON.stringify(first.id)} (${first.why})`
    const others = refused.length > 1 ? ` and of ${refused.length - 1} other counters` : ''
    super(
      'sink-refused',
      `${sink} refused ${named}${others}: what they were to get is kept in perilune_refused`,
    )
    this.refused = refused
  }
}

/** To be called with what the database has refused. */
export type NoteRefused = (refused: readonly Refusal[]) => void

export class KeptRefusals {
  readonly #runtime: Runtime
  readonly #retrying: OneAtATime
  /** As far as this process knows. */
  areKept = false
  /** What a flush that failed for something else has not told. */
  #untold: readonly Refusal[] = []

  constructor(runtime: Runtime) {
    this.#runtime = runtime
    this.#retrying = new OneAtATime(runtime.runner.deadlines)
  }

  /**
   * Does the work of a flush, which notes what the database refused. Throws RefusedError where there is any, also of flushes before
   * that failed; what this one throws, and then the next one tells it, with what is noted after this one is over.
   */
  async telling<Done>(name: string, work: (note: NoteRefused) => Promise<Done>): Promise<Done> {
    let refused: readonly Refusal[] = []
    let isOver = false
    const note: NoteRefused = (some) => {
      if (isOver) this.#keep(some)
      else refused = [...refused, ...some]
    }
    let done: Done
    try {
      done = await work(note)
    } catch (error) {
      this.#keep(refused)
      throw error
    } finally {
      isOver = true
    }
    const all = [...this.#untold, ...refused]
    this.#untold = []
    if (all.length > 0) throw new RefusedError(name, all)
    return done
  }

  #keep(refused: readonly Refusal[]): void {
    this.#untold = [...this.#untold, ...refused].slice(-MOST_UNTOLD)
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

function countsOf(refusals: readonly Refusal[]): RefusedCount[] {
  const sums = new Map<string, { delta: bigint; why: string }>()
  for (const { id, delta, why } of refusals) {
    sums.set(id, { delta: (sums.get(id)?.delta ?? 0n) + delta, why })
  }
  return [...sums].map(([id, { delta, why }]) => ({ id, by: toValue(String(delta)), why }))
}
