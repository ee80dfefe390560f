// Ids and unique keys of the model.

import type { Job, Spec } from './queue-job.ts'

interface Hold {
  readonly number: number
  readonly until: string
  readonly endsMs: number
}

export class Names {
  readonly #ids = new Map<string, number>()
  readonly #uniques = new Map<string, Hold>()

  /** The number of the job that a new one would double. */
  holderOf({ id, unique }: Spec, nowMs: number): number | undefined {
    const known = this.#ids.get(id)
    if (known !== undefined) return known
    const hold = this.#uniques.get(unique)
    return hold === undefined || (hold.until === 'w' && hold.endsMs <= nowMs) ? undefined : hold.number
  }

  hold({ number }: Job, { id, unique, until, window_ms }: Spec, nowMs: number): void {
    if (id !== '') this.#ids.set(id, number)
    if (unique !== '') this.#uniques.set(unique, { number, until, endsMs: nowMs + window_ms })
  }

  /** The job starts, or, with `isOver`, is done or dead. */
  freeUnique({ spec, number }: Job, isOver: boolean): void {
    if (spec === null || (spec.until !== 's' && !(spec.until === 'd' && isOver))) return
    if (this.#uniques.get(spec.unique)?.number === number) this.#uniques.delete(spec.unique)
  }

  /** The job begins again, and needs its key until it starts, or is done. False when another job has it. */
  holdAgain({ spec, number }: Job, nowMs: number): boolean {
    if (spec === null || spec.unique === '' || spec.until === 'w') return true
    const hold = this.#uniques.get(spec.unique)
    const isOver = hold === undefined || (hold.until === 'w' && hold.endsMs <= nowMs)
    if (!isOver && hold.number !== number) return false
    this.#uniques.set(spec.unique, { number, until: spec.until, endsMs: 0 })
    return true
  }

  /** The job is no more. */
  freeAll(job: Job): void {
    this.freeUnique(job, true)
    if (job.spec !== null && this.#ids.get(job.spec.id) === job.number) this.#ids.delete(job.spec.id)
  }
}
