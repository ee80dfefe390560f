// Tenants share the connection to Redis and the memory of the service. Large answers are made in turns. A tenant whose
// clients do not read their answers waits until they do.

import type { Perilune } from 'perilune'
import { AnswerPauses } from './pauses.ts'
import type { Unsent } from './unsent.ts'

type Shares = NonNullable<ConstructorParameters<typeof Perilune>[1]['shares']>

/** Requests of one tenant that may wait for a turn; more are rejected. */
const MOST_WAITING = 20_000

export function sharesOf(unsent: Unsent): Shares {
  const pauses = new AnswerPauses()
  return {
    of: shareOf,
    mostWaiting: MOST_WAITING,
    hasRoom: (share) => !pauses.isPause && unsent.hasRoom(share),
    onRoom(listener) {
      unsent.onRoom(listener)
      pauses.onEnd(listener)
    },
    came: (bytes) => pauses.came(bytes),
  }
}

/** The share of a key in Redis: the prefix of all names of one tenant in one API. */
export function shareOf(key: string): string {
  const from = key.indexOf(':', key.indexOf('{')) + 1
  const name = decodeURIComponent(key.slice(from, key.indexOf('}', from)))
  // A tenant of /v1 has no slash in it; a queue of /v2 has none in its name.
  const slash = name.startsWith('v1') ? name.indexOf('/') : name.lastIndexOf('/')
  return slash === -1 ? name : name.slice(0, slash)
}
