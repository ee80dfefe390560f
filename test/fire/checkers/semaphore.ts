import { PERMITS } from '../workloads/semaphore.ts'
import { callsOf, type Checker } from './checker.ts'
import { keysHeld, lostWithoutCause, tokensThatDoNotRise, tooManyAtOnce } from './leases.ts'

export const semaphore: Checker = (history, terms) => [
  ...keysHeld(history).flatMap((key) => [
    ...tooManyAtOnce(history, key, PERMITS, terms),
    ...lostWithoutCause(history, key, terms),
  ]),
  ...tokensThatDoNotRise(history, callsOf(history, 'acquire', 'ok'), 'permits'),
  ...history.sights.flatMap(({ what, facts }) =>
    what === 'left' && facts['free'] !== true ? ['permits are out without a holder'] : [],
  ),
]
