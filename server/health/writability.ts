// Whether Redis accepts writes for each structure: a write without effect is sent to a key of each. A full Redis
// accepts it, because acks, releases and removals still work there.

import type { Redis } from 'ioredis'
import { mayNotRun } from './rights.ts'

const STRUCTURES = [
  'autocomplete',
  'cache',
  'catalog',
  'collection',
  'counters',
  'feed',
  'lock',
  'once',
  'queue',
  'rate-limit',
  'semaphore',
] as const

const REFUSALS: ReadonlyMap<string, string> = new Map([
  ['READONLY', 'Redis is a read-only replica: REDIS_URL must name its primary'],
  ['NOREPLICAS', 'Redis has too few replicas, and refuses writes until it has them'],
  ['MISCONF', 'Redis cannot write to its disk, and refuses writes until it can'],
  [
    'MOVED',
    'Redis is a cluster of several nodes, and the service uses only one: REDIS_URL must name a Redis that has all keys',
  ],
  ['CLUSTERDOWN', 'Redis is a cluster that is down: some of its slots are served by no node'],
])

/** An absent key of each structure. */
export function probesOf(namespace: string): ReadonlyMap<string, string> {
  return new Map(STRUCTURES.map((structure) => [structure, `${namespace}:{${structure}:readiness}:never`]))
}

/** Null if all are accepted, otherwise the reason. */
export async function refusalOfWrites(
  client: Redis,
  probes: ReadonlyMap<string, string>,
): Promise<string | null> {
  const refusals = await Promise.all(
    [...probes].map(([structure, key]) =>
      client.hdel(key, 'never').then(
        () => null,
        (error: unknown) => explain(structure, error),
      ),
    ),
  )
  return refusals.find((refusal) => refusal !== null) ?? null
}

function explain(structure: string, error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const word = message.split(' ', 1)[0] ?? ''
  if (word === 'NOPERM' && message.includes("run the 'hdel' command")) return mayNotRun(['HDEL'])
  if (word === 'NOPERM') {
    return `this user of Redis lacks the right to write keys of ${structure}; docs/compatibility.md names what it needs`
  }
  return REFUSALS.get(word) ?? 'Redis refuses writes'
}
