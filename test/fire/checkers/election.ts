// One leads at a time, under tokens that rise; and a write of an earlier leader is refused.

import type { History } from '../history.ts'
import type { Checker } from './checker.ts'
import { holdsOf, tooManyAtOnce } from './leases.ts'
import { overtakenWrites } from './lock.ts'

const OFFICE = 'office'

export const election: Checker = (history, terms) => [
  ...tooManyAtOnce(history, OFFICE, 1, terms),
  ...termsThatDoNotRise(history),
  ...overtakenWrites(history, terms),
]

function termsThatDoNotRise(history: History): string[] {
  const holds = holdsOf(history, OFFICE)
  return holds.flatMap(({ token, fromUs }) => {
    const before = holds.filter((other) => other.untilUs < fromUs)
    const greatest = Math.max(0, ...before.map((other) => other.token))
    return token <= greatest ? [`${OFFICE}: the token ${token} after ${greatest}`] : []
  })
}
