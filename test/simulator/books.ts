// The books of a schedule: which increments were begun, and how often each may be in the database at the end.

import { arrivalsOf, type Counted, startedBy } from './happened.ts'

export class Books {
  readonly increments: Counted[] = []

  begin(owner: string, id: string): Counted {
    const mine = startedBy(owner, id, this.increments.length)
    this.increments.push(mine)
    return mine
  }

  /** Increments without an answer, of one process or of all, may be lost. */
  forgiveOpen(owner?: string): void {
    for (const each of this.increments) {
      if (each.acked === null && (owner === undefined || each.owner === owner)) each.isForgiven = true
    }
  }

  /** Redis restarts with what it had at this step. */
  forgetSince(step: number): void {
    for (const each of this.increments) {
      if (each.acked !== null && each.acked > step) each.least = 0
    }
  }

  /** The first attempt of calls under way is no longer remembered, and its increment may be flushed. */
  forgetAll(): void {
    for (const each of this.increments) {
      each.least = 0
      if (each.acked === null) each.most = 2
    }
    this.forgiveOpen()
  }

  /** What the database lacks after `change` is lost, and nothing else. */
  loseWith(change: () => boolean, values: () => ReadonlyMap<string, bigint>): boolean {
    const before = this.increments.map((each) => arrivalsOf(each, values()))
    if (!change()) return false
    for (const [at, each] of this.increments.entries()) {
      if (arrivalsOf(each, values()) === before[at]) continue
      each.least = 0
      each.isForgiven = true
    }
    return true
  }
}
