// A writer is alone; readers are not.

import type { History } from '../history.ts'
import { isExcused, type Terms } from '../terms.ts'
import { byKey, callsOf, type Checker, instant } from './checker.ts'
import { holdsOf, lostWithoutCause, tokensThatDoNotRise, tooManyAtOnce } from './leases.ts'

export const sharedLock: Checker = (history, terms) => [
  ...tooManyAtOnce(history, 'writer', 1, terms),
  ...['writer', 'reader'].flatMap((key) => lostWithoutCause(history, key, terms)),
  ...readersBesideWriters(history, terms),
  ...[...byKey(callsOf(history, 'acquire', 'ok'))].flatMap(([key, grants]) =>
    tokensThatDoNotRise(history, grants, key),
  ),
]

function readersBesideWriters(history: History, terms: Terms): string[] {
  const readers = holdsOf(history, 'reader').filter((hold) => !isExcused(terms, hold.fromUs, hold.untilUs))
  const writers = holdsOf(history, 'writer').filter((hold) => !isExcused(terms, hold.fromUs, hold.untilUs))
  return writers.flatMap((writer) =>
    readers
      .filter(({ fromUs, untilUs }) => fromUs < writer.untilUs && writer.fromUs < untilUs)
      .map(({ process, token }) => {
        const when = instant(history, writer.fromUs)
        return `process ${process} reads with ${token} beside the writer with ${writer.token}, at ${when}`
      }),
  )
}
