import type { RedisCall } from './redis-calls.ts'
import { literal } from './scope.ts'

/**
 * What a client needs to connect, to learn the slots of a cluster, to load scripts and to wait; HDEL, INFO and
 * PUBSUB show a driver whether it listens at the node where its commands run.
 */
const CONNECTION = [
  'auth',
  'client|id',
  'client|setname',
  'cluster|nodes',
  'cluster|shards',
  'cluster|slots',
  'eval',
  'evalsha',
  'hdel',
  'hello',
  'info',
  'ping',
  'pubsub|shardnumsub',
  'quit',
  'readonly',
  'script|load',
  'select',
  'ssubscribe',
  'subscribe',
  'sunsubscribe',
  'unsubscribe',
  'wait',
]

/** What a library asks for without a script. */
const PLAIN: ReadonlyMap<string, readonly string[]> = new Map([
  ['autocomplete', ['hget']],
  ['cache', ['get', 'mget']],
])

/** Commands whose right is given by subcommand: the others reveal what the user has no need to know. */
const CONTAINERS = new Set(['PUBSUB'])

/** The commands of many calls in lower case, sorted, each once. */
export function commandNames(calls: readonly RedisCall[]): string[] {
  return [...new Set(calls.map(rightFor))].toSorted()
}

function rightFor({ name, args }: RedisCall): string {
  const subcommand = CONTAINERS.has(name) ? literal(args[0]) : null
  return (subcommand === null ? name : `${name}|${subcommand}`).toLowerCase()
}

/** The ACL rule of a user that only uses one structure; its password is not part of it. */
export function aclRule(structure: string, commands: readonly string[]): string {
  const unit = `<namespace>:{${structure}:*`
  const allowed = [...new Set([...CONNECTION, ...(PLAIN.get(structure) ?? []), ...commands])]
    .toSorted()
    .map((name) => `+${name}`)
  return ['resetkeys', 'resetchannels', `~${unit}`, `&${unit}`, '-@all', ...allowed].join(' ')
}
