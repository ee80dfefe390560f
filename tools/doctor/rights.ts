// The rights that structures need, from the ACL rules of lua/contract.json, and a harmless example of each command.

import type { Server } from './server.ts'
import { isBefore } from './versions.ts'

export interface Right {
  readonly structure: string
  /** As an ACL rule names it: `zadd`, `script|load`. */
  readonly command: string
  /** The command with arguments: it is judged, and never run. */
  readonly example: readonly string[]
  /** Whether a structure fails without it; otherwise it only gets slower, or learns less. */
  readonly vital: boolean
}

/** What a structure needs, and the key and the channel that stand for all of its own. */
export interface Needs {
  readonly structure: string
  readonly keys: string
  readonly rights: readonly Right[]
}

/** Arguments behind the key. */
const AFTER_KEY: ReadonlyMap<string, readonly string[]> = new Map(
  [
    [
      '',
      'del exists get hgetall hkeys hlen hrandfield llen lpop mget persist pttl scard strlen unlink xlen zcard zpopmin',
    ],
    [
      '1',
      'append hdel hexists hget hmget lindex lpush pexpire rpush sadd srem xdel zmscore zrank zrem zscore',
    ],
    ['0', 'hscan sscan'],
    [
      '1 2',
      'getrange hset lrange lrem ltrim set setrange xrange xrevrange zadd zcount zlexcount zrange zrangebylex',
    ],
    ['1 2', 'hincrby zrangebyscore zremrangebyrank zrevrangebylex'],
    ['* 1 2', 'xadd'],
  ].flatMap(([args = '', names = '']) =>
    names.split(' ').map((name): [string, readonly string[]] => [name, args === '' ? [] : args.split(' ')]),
  ),
)

const SHA1 = '0'.repeat(40)

function exampleOf(command: string, key: string): readonly string[] | null {
  const after = AFTER_KEY.get(command)
  if (after !== undefined) return [command, key, ...after]
  switch (command) {
    case 'eval':
      return ['eval', 'return 1', '1', key]
    case 'evalsha':
      return ['evalsha', SHA1, '1', key]
    case 'rename':
      return ['rename', key, `${key}2`]
    case 'xinfo':
      return ['xinfo', 'stream', key]
    case 'script|load':
      return ['script', 'load', 'return 1']
    case 'publish':
    case 'spublish':
      return [command, key, 'message']
    case 'subscribe':
    case 'ssubscribe':
      return [command, key]
    case 'pubsub':
      return ['pubsub', 'numsub', key]
    case 'pubsub|numsub':
    case 'pubsub|shardnumsub':
      return [...command.split('|'), key]
    case 'client|setname':
      return ['client', 'setname', 'doctor']
    case 'select':
      return ['select', '0']
    case 'wait':
      return ['wait', '0', '1']
    case 'auth':
    case 'hello':
    case 'quit':
      return [] // every user may run them
    case 'client|id':
    case 'cluster|nodes':
    case 'cluster|shards':
    case 'cluster|slots':
    case 'info':
    case 'ping':
    case 'readonly':
    case 'sunsubscribe':
    case 'time':
    case 'unsubscribe':
      return command.split('|')
    default:
      return null
  }
}

/** Commands of the contract without an example: a test keeps this empty. */
export function unknownCommands(commands: readonly string[]): string[] {
  return commands.filter((command) => exampleOf(command, 'key') === null)
}

const FOR_CLUSTERS = /^(cluster\||readonly$|ssubscribe$|sunsubscribe$|spublish$|pubsub\|shardnumsub$)/
const SINCE_7 = /^(cluster\|shards|ssubscribe|sunsubscribe|spublish|pubsub\|shardnumsub)$/
/** Without these, docs/operations.md says what gets slower. */
const HELPFUL =
  /^(info|ping|publish|spublish|pubsub|pubsub\|.*|subscribe|ssubscribe|unsubscribe|sunsubscribe|wait|client\|.*|readonly)$/

export function needsOf(server: Server): Needs[] {
  const { namespace, contract, structures, address } = server.options
  const version = server.nodes[0]?.info?.get('redis_version') ?? '7.0.0'
  return structures.map((structure) => {
    const keys = `${namespace}:{${structure}:*`
    const key = `${namespace}:{${structure}:doctor}:key`
    const rights = commandsIn(contract.structures[structure]?.acl ?? '')
      .filter((command) => server.isCluster || !FOR_CLUSTERS.test(command))
      .filter((command) => !(isBefore(version, '7.0.0') && SINCE_7.test(command)))
      .filter((command) => command !== 'select' || address.db > 0)
      .flatMap((command): Right[] => {
        const example = exampleOf(command, key) ?? []
        return example.length === 0 ? [] : [{ structure, command, example, vital: !HELPFUL.test(command) }]
      })
    return { structure, keys, rights }
  })
}

export function commandsIn(acl: string): string[] {
  return acl.split(' ').flatMap((rule) => (rule.startsWith('+') ? rule.slice(1) : []))
}
