// Jobs that ask more of the server than plain ones.

import type { JobOptions } from 'perilune'

/** The options of the job at this place, where jobs with these ids may be its dependencies. */
export type Kind = (at: number, dependencies: readonly string[]) => JobOptions

export const KINDS: Readonly<Record<string, Kind>> = {
  'a priority': () => ({ priority: 5 }),
  'a delay': () => ({ delay: '1h' }),
  'a group of its own': (at) => ({ group: `g${at}` }),
  'an id, a unique key and tags': (at) => ({ id: `i${at}`, unique: `u${at}`, tags: ['a', `t${at}`] }),
  'twenty tags': () => ({ tags: Array.from({ length: 20 }, (_, at) => `t${at}`) }),
  'an idempotency key and a group': (at) => ({ idempotencyKey: `k${at}`, group: 'g' }),
  'ten dependencies': (_, dependencies) => ({ dependsOn: dependencies.slice(0, 10) }),
  'a hundred dependencies': (_, dependencies) => ({ dependsOn: dependencies }),
}
