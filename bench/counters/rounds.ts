// A round of votes, as many as get through, with all that it leaves behind.

import type { Steps } from '../harness/round.ts'
import { firstLine } from '../harness/first-line.ts'
import { zipf } from '../harness/zipf.ts'
import type { Work } from './database.ts'
import { driftOf, empty, type Staged } from './stage.ts'
import { voterOf } from './voters.ts'

export interface Mix {
  readonly name: string
  readonly items: number
}

export const MIXES: readonly Mix[] = [
  { name: 'one hot item', items: 1 },
  { name: "1000 items by Zipf's law", items: 1000 },
]

/** What a round left behind. */
export interface Left {
  readonly votes: number
  readonly drift: number
  readonly errors: number
  readonly complaint: string
  /** From the last vote until the database had all. */
  readonly settleMs: number
  readonly work: Work
}

/** Each round adds to `left`. */
export function voting(staged: Staged, items: number, left: Left[]): Steps {
  const { contender, stage, voting: way } = staged
  const next = zipf(items)
  let [votes, errors, complaint] = [0, 0, '']
  let before: Work = { statements: 0, rows: 0 }
  return {
    async before() {
      const all = await empty(stage, items)
      await way.begin?.(all)
      ;[votes, errors, complaint] = [0, 0, '']
      before = await stage.database.work()
    },
    async call() {
      votes++
      try {
        await way.vote(voterOf(votes), next() + 1)
      } catch (error) {
        errors++
        complaint = `${contender.name}: ${firstLine(error)}`
      }
    },
    async after() {
      const from = performance.now()
      await way.settle?.()
      const settleMs = performance.now() - from
      const now = await stage.database.work()
      const work = { statements: now.statements - before.statements, rows: now.rows - before.rows }
      left.push({
        votes,
        drift: await driftOf(staged, votes - errors),
        errors,
        complaint,
        settleMs,
        work,
      })
    },
  }
}
