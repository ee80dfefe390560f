// The commands that a script may call: where their keys stand, whether they write, and the first
// version that knows them. A command that is missing here is refused; adding one is adding a line.

/** The oldest server that Perilune runs on; older versions are not distinguished. */
export const OLDEST_SERVER = '6.2.0'

/** Positions count from 1, the command itself being 0; a last of -1 is the last argument. */
interface KeyRange {
  readonly first: number
  readonly last: number
  readonly step: number
}

/** Keys counted by an argument (`numkeys`), with one more key before it where `also` says so. */
interface CountedKeys {
  readonly count: number
  readonly also?: number
}

type KeyPlaces = KeyRange | CountedKeys | 'after STREAMS' | 'none'

export interface Command {
  readonly keys: KeyPlaces
  /** Of its keys, as contracts name it; null where it takes several. */
  readonly kind: string | null
  /** True also for what a read-only call may not do for another reason, such as PUBLISH. */
  readonly writes: boolean
  readonly since: string
  /** Option words that came later than the command. */
  readonly options: ReadonlyMap<string, string>
}

interface Group {
  readonly names: string
  readonly kind?: string
  readonly keys: KeyPlaces
  readonly writes?: true
  readonly since?: string
  readonly options?: Readonly<Record<string, string>>
}

const ONE: KeyRange = { first: 1, last: 1, step: 1 }
const TWO: KeyRange = { first: 1, last: 2, step: 1 }
const ALL: KeyRange = { first: 1, last: -1, step: 1 }
const SECOND: KeyRange = { first: 2, last: 2, step: 1 }

const GROUPS: readonly Group[] = [
  // Keys of any kind
  { names: 'EXISTS TOUCH', keys: ALL },
  { names: 'TTL PTTL TYPE DUMP', keys: ONE },
  { names: 'EXPIRETIME PEXPIRETIME', keys: ONE, since: '7.0.0' },
  { names: 'OBJECT MEMORY', keys: SECOND },
  { names: 'DEL UNLINK', keys: ALL, writes: true },
  { names: 'PERSIST RESTORE', keys: ONE, writes: true },
  { names: 'RENAME RENAMENX', keys: TWO, writes: true },
  { names: 'COPY', keys: TWO, writes: true, since: '6.2.0' },
  {
    names: 'EXPIRE PEXPIRE EXPIREAT PEXPIREAT',
    keys: ONE,
    writes: true,
    options: { NX: '7.0.0', XX: '7.0.0', GT: '7.0.0', LT: '7.0.0' },
  },
  // Strings
  { names: 'GET STRLEN GETRANGE GETBIT', kind: 'string', keys: ONE },
  { names: 'BITCOUNT BITPOS', kind: 'string', keys: ONE, options: { BYTE: '7.0.0', BIT: '7.0.0' } },
  { names: 'BITFIELD_RO', kind: 'string', keys: ONE, since: '6.2.0' },
  { names: 'MGET', kind: 'string', keys: ALL },
  {
    names: 'SETNX SETEX PSETEX INCR INCRBY INCRBYFLOAT DECR DECRBY APPEND',
    kind: 'string',
    keys: ONE,
    writes: true,
  },
  { names: 'SETRANGE GETSET SETBIT BITFIELD', kind: 'string', keys: ONE, writes: true },
  {
    names: 'SET',
    kind: 'string',
    keys: ONE,
    writes: true,
    options: { GET: '6.2.0', EXAT: '6.2.0', PXAT: '6.2.0' },
  },
  { names: 'GETDEL GETEX', kind: 'string', keys: ONE, writes: true, since: '6.2.0' },
  { names: 'MSET MSETNX', kind: 'string', keys: { first: 1, last: -1, step: 2 }, writes: true },
  { names: 'BITOP', kind: 'string', keys: { first: 2, last: -1, step: 1 }, writes: true },
  { names: 'LCS', kind: 'string', keys: TWO, since: '7.0.0' },
  // Hashes
  { names: 'HGET HMGET HGETALL HEXISTS HLEN HKEYS HVALS HSTRLEN', kind: 'hash', keys: ONE },
  { names: 'HSCAN', kind: 'hash', keys: ONE, options: { NOVALUES: '7.4.0' } },
  { names: 'HRANDFIELD', kind: 'hash', keys: ONE, since: '6.2.0' },
  { names: 'HSET HSETNX HMSET HDEL HINCRBY HINCRBYFLOAT', kind: 'hash', keys: ONE, writes: true },
  { names: 'HTTL HPTTL HEXPIRETIME HPEXPIRETIME', kind: 'hash', keys: ONE, since: '7.4.0' },
  {
    names: 'HEXPIRE HPEXPIRE HEXPIREAT HPEXPIREAT HPERSIST',
    kind: 'hash',
    keys: ONE,
    writes: true,
    since: '7.4.0',
  },
  // Lists
  { names: 'LINDEX LLEN LRANGE LPOS', kind: 'list', keys: ONE },
  { names: 'LPUSH RPUSH LPUSHX RPUSHX LINSERT LSET LREM LTRIM', kind: 'list', keys: ONE, writes: true },
  { names: 'LPOP RPOP', kind: 'list', keys: ONE, writes: true },
  { names: 'RPOPLPUSH', kind: 'list', keys: TWO, writes: true },
  { names: 'LMOVE', kind: 'list', keys: TWO, writes: true, since: '6.2.0' },
  { names: 'LMPOP', kind: 'list', keys: { count: 1 }, writes: true, since: '7.0.0' },
  // Sets
  { names: 'SCARD SISMEMBER SMEMBERS SRANDMEMBER SSCAN', kind: 'set', keys: ONE },
  { names: 'SMISMEMBER', kind: 'set', keys: ONE, since: '6.2.0' },
  { names: 'SDIFF SINTER SUNION', kind: 'set', keys: ALL },
  { names: 'SINTERCARD', kind: 'set', keys: { count: 1 }, since: '7.0.0' },
  { names: 'SADD SREM SPOP', kind: 'set', keys: ONE, writes: true },
  { names: 'SMOVE', kind: 'set', keys: TWO, writes: true },
  { names: 'SDIFFSTORE SINTERSTORE SUNIONSTORE', kind: 'set', keys: ALL, writes: true },
  // Sorted sets
  { names: 'ZCARD ZCOUNT ZLEXCOUNT ZSCORE ZSCAN', kind: 'zset', keys: ONE },
  { names: 'ZRANK ZREVRANK', kind: 'zset', keys: ONE, options: { WITHSCORE: '7.2.0' } },
  { names: 'ZRANGEBYSCORE ZRANGEBYLEX ZREVRANGE ZREVRANGEBYSCORE ZREVRANGEBYLEX', kind: 'zset', keys: ONE },
  {
    names: 'ZRANGE',
    kind: 'zset',
    keys: ONE,
    options: { BYSCORE: '6.2.0', BYLEX: '6.2.0', REV: '6.2.0', LIMIT: '6.2.0' },
  },
  { names: 'ZMSCORE ZRANDMEMBER', kind: 'zset', keys: ONE, since: '6.2.0' },
  { names: 'ZDIFF ZINTER ZUNION', keys: { count: 1 }, since: '6.2.0' },
  { names: 'ZINTERCARD', keys: { count: 1 }, since: '7.0.0' },
  { names: 'ZADD', kind: 'zset', keys: ONE, writes: true, options: { GT: '6.2.0', LT: '6.2.0' } },
  {
    names: 'ZINCRBY ZREM ZREMRANGEBYRANK ZREMRANGEBYSCORE ZREMRANGEBYLEX',
    kind: 'zset',
    keys: ONE,
    writes: true,
  },
  { names: 'ZPOPMIN ZPOPMAX', kind: 'zset', keys: ONE, writes: true },
  { names: 'ZMPOP', kind: 'zset', keys: { count: 1 }, writes: true, since: '7.0.0' },
  { names: 'ZRANGESTORE', kind: 'zset', keys: TWO, writes: true, since: '6.2.0' },
  { names: 'ZUNIONSTORE ZINTERSTORE', keys: { count: 2, also: 1 }, writes: true },
  { names: 'ZDIFFSTORE', keys: { count: 2, also: 1 }, writes: true, since: '6.2.0' },
  // Streams
  { names: 'XLEN XRANGE XREVRANGE XPENDING', kind: 'stream', keys: ONE },
  { names: 'XINFO', kind: 'stream', keys: SECOND },
  { names: 'XREAD', kind: 'stream', keys: 'after STREAMS' },
  {
    names: 'XADD',
    kind: 'stream',
    keys: ONE,
    writes: true,
    options: { MINID: '6.2.0', NOMKSTREAM: '6.2.0', LIMIT: '6.2.0' },
  },
  { names: 'XTRIM', kind: 'stream', keys: ONE, writes: true, options: { MINID: '6.2.0', LIMIT: '6.2.0' } },
  { names: 'XDEL XACK XCLAIM', kind: 'stream', keys: ONE, writes: true },
  {
    names: 'XSETID',
    kind: 'stream',
    keys: ONE,
    writes: true,
    options: { ENTRIESADDED: '7.0.0', MAXDELETEDID: '7.0.0' },
  },
  { names: 'XAUTOCLAIM', kind: 'stream', keys: ONE, writes: true, since: '6.2.0' },
  { names: 'XGROUP', kind: 'stream', keys: SECOND, writes: true, options: { ENTRIESREAD: '7.0.0' } },
  { names: 'XREADGROUP', kind: 'stream', keys: 'after STREAMS', writes: true },
  // Estimates
  { names: 'PFCOUNT', kind: 'string', keys: ALL },
  { names: 'PFADD', kind: 'string', keys: ONE, writes: true },
  { names: 'PFMERGE', kind: 'string', keys: ALL, writes: true },
  // No key
  { names: 'TIME INFO', keys: 'none' },
  { names: 'PUBLISH', keys: 'none', writes: true },
  { names: 'SPUBLISH', keys: 'none', writes: true, since: '7.0.0' },
  // Only the node's own subscribers are counted, so no replica may answer for it.
  { names: 'PUBSUB', keys: 'none' },
]

const COMMANDS: ReadonlyMap<string, Command> = new Map(
  GROUPS.flatMap(({ names, kind = null, keys, writes = false, since = OLDEST_SERVER, options = {} }) =>
    names
      .split(' ')
      .map(
        (name) => [name, { kind, keys, writes, since, options: new Map(Object.entries(options)) }] as const,
      ),
  ),
)

export const COMMAND_NAMES: readonly string[] = [...COMMANDS.keys()]

/** What is known of a command; null when scripts may not call it. */
export function command(name: string): Command | null {
  return COMMANDS.get(name) ?? null
}

/** The later of two versions such as `6.2.0`. */
export function later(a: string, b: string): string {
  return a.localeCompare(b, 'en', { numeric: true }) < 0 ? b : a
}
