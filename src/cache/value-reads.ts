// Reads of values. Where tenants share this process (docs/decisions/0040) a value that may be large is read when there is room for
// it, as every answer with bytes; else at once, with the other reads of its tick.

import type { AnswersDue, Asking } from '../runtime/calls/answers-due.ts'
import type { Due } from '../runtime/time/deadlines.ts'
import type { DriverError } from '../runtime/errors/errors.ts'
import { closed, type Runner } from '../runtime/calls/runner.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { late, overloaded } from './read-answers.ts'
import type { Reads } from './reads.ts'

export class ValueReads {
  readonly #runner: Runner
  readonly #reads: Reads
  readonly #place: string

  /** `place`: what begins the keys of the cache, whose values are alike. */
  constructor(runtime: Runtime, reads: Reads, place: string) {
    this.#runner = runtime.runner
    this.#reads = reads
    this.#place = place
  }

  /** As `Reads.get`; the wait for room is bounded by the deadline of calls. */
  get(key: string, withinMs: number): Promise<Buffer | null> {
    const read = (): Promise<Buffer | null> => this.#reads.getLarge(key, withinMs)
    if (!this.#runner.isShared) return read()
    if (this.#runner.closed) return Promise.reject(closed())
    return new Promise((resolve, reject) => {
      const answersDue = this.#runner.answersDue.of(key)
      new ReadInTurn(this.#runner, answersDue, this.#place, read, { resolve, reject }).begin()
    })
  }
}

/** What is not there: a small answer. */
const NOTHING = Buffer.alloc(0)

interface Settle {
  readonly resolve: (bytes: Buffer | null) => void
  readonly reject: (error: unknown) => void
}

class ReadInTurn implements Asking, Due {
  readonly by: number
  readonly key: string
  expectedBytes = 0
  /** Answers that had come when it began to wait. */
  readonly #answersBefore: number
  readonly #runner: Runner
  readonly #answersDue: AnswersDue
  readonly #read: () => Promise<Buffer | null>
  readonly #settle: Settle

  constructor(
    runner: Runner,
    answersDue: AnswersDue,
    place: string,
    read: () => Promise<Buffer | null>,
    settle: Settle,
  ) {
    this.by = performance.now() + runner.deadlineMs
    this.key = place
    this.#answersBefore = answersDue.answers
    this.#runner = runner
    this.#answersDue = answersDue
    this.#read = read
    this.#settle = settle
  }

  begin(): void {
    this.#runner.deadlines.add(this)
    this.#answersDue.enter(this)
  }

  ask(): void {
    this.#runner.deadlines.remove(this)
    const read = this.#read()
    read.then(
      (bytes) => this.#answersDue.over(this, bytes ?? NOTHING),
      () => this.#answersDue.over(this, null),
    )
    read.then(this.#settle.resolve, this.#settle.reject)
  }

  refuse(error: DriverError): void {
    this.#runner.deadlines.remove(this)
    this.#settle.reject(error)
  }

  /** It was never sent. */
  giveUp(reason?: Error): void {
    const isMoving = this.#answersDue.movesSince(this.#answersBefore)
    this.#answersDue.leave(this)
    this.#settle.reject(reason ?? (isMoving ? overloaded() : late()))
  }
}
