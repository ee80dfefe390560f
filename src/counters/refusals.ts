// Changes that the database refused, kept until it accepts them: every flush that writes anything retries them.

import { brand } from '../driver.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { SinkError } from './errors.ts'
import type { Refusal, Refusals } from './sink.ts'
import { OneAtATime, patiently, sinkInTime } from './sink-calls.ts'
import { type CounterValue, toValue } from './value.ts'

const MOST_UNREPORTED = 1000

/** A change of a counter that the database refused. It is kept in `perilune_refused` and retried. */
export interface RefusedCount {
  readonly id: string
  readonly by: CounterValue
  /** The error message of the database. */
  readonly why: string
}

/** The database has refused rows of some counters. All others are written. */
export class RefusedError extends SinkError {
  static {
    brand(this, 'RefusedError')
  }

  /** The refused changes, each counter once. */
  readonly refused: readonly RefusedCount[]

  constructor(sink: string, refusals: readonly Refusal[]) {
    const refused = countsOf(refusals)
    const [first] = refused
    const named = first === undefined ? 'rows' : `the row of ${JSON.stringify(first.id)} (${first.why})`
    const others = refused.length > 1 ? ` and of ${refused.length - 1} other counters` : ''
    super(
      'sink-refused',
      `${sink} refused ${named}${others}: the refused changes are kept in perilune_refused and retried`,
    )
    this.refused = refused
  }
}

/** To be called with the changes that the database has refused. */
export type NoteRefused = (refused: readonly Refusal[]) => void

export class KeptRefusals {
  readonly #runtime: Runtime
  readonly #retrying: OneAtATime
  /** Whether any are kept, as far as this process knows. */
  areKept = false
  /** Refusals that a flush could not report because it failed for another reason. */
  #unreported: readonly Refusal[] = []

  constructor(runtime: Runtime) {
    this.#runtime = runtime
    this.#retrying = new OneAtATime(runtime.runner.deadlines)
  }

  /**
   * Runs a flush, which notes the refusals of the database. Throws RefusedError if there are any, also from earlier
   * flushes that failed. If the flush throws another error, or refusals are noted after its end, the next flush reports
   * them.
   */
  async reporting<Done>(name: string, work: (note: NoteRefused) => Promise<Done>): Promise<Done> {
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
    const all = [...this.#unreported, ...refused]
    this.#unreported = []
    if (all.length > 0) throw new RefusedError(name, all)
    return done
  }

  #keep(refused: readonly Refusal[]): void {
    this.#unreported = [...this.#unreported, ...refused].slice(-MOST_UNREPORTED)
  }

  /**
   * If a retry is already running, the refused changes are left to the next flush. Throws SinkError, or the reason of
   * the signal.
   */
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
