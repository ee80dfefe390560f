// How many arguments a command takes: with fewer or more Redis fails the script when it comes there.

import type { Expression } from 'luaparse'
import type { Refuse } from './head.ts'
import { type RedisCall, redisCalls } from './redis-calls.ts'
import { lineOf } from './scope.ts'
import type { Script } from './script.ts'

/** Behind the command, by their number. */
const EXACTLY: Readonly<Record<number, string>> = {
  0: 'TIME',
  1: `TTL PTTL TYPE DUMP EXPIRETIME PEXPIRETIME PERSIST GET STRLEN INCR DECR GETDEL HGETALL HLEN HKEYS HVALS LLEN SCARD
    SMEMBERS ZCARD XLEN`,
  2: `RENAME RENAMENX GETBIT SETNX INCRBY INCRBYFLOAT DECRBY APPEND GETSET HGET HEXISTS HSTRLEN LINDEX RPOPLPUSH SISMEMBER
    ZSCORE PUBLISH SPUBLISH`,
  3: `GETRANGE SETEX PSETEX SETRANGE SETBIT HSETNX HINCRBY HINCRBYFLOAT LRANGE LSET LREM LTRIM SMOVE ZCOUNT ZLEXCOUNT ZINCRBY
    ZREMRANGEBYRANK ZREMRANGEBYSCORE ZREMRANGEBYLEX`,
  4: 'LINSERT LMOVE',
}
const AT_LEAST: Readonly<Record<number, string>> = {
  2: `COPY EXPIRE PEXPIRE EXPIREAT PEXPIREAT BITPOS SET MSET MSETNX LCS HMGET HSCAN HDEL LPOS LPUSH RPUSH LPUSHX RPUSHX SSCAN
    SMISMEMBER SINTERCARD SADD SREM SDIFFSTORE SINTERSTORE SUNIONSTORE ZSCAN ZMSCORE ZDIFF ZINTER ZUNION ZINTERCARD ZREM
    ZRANK ZREVRANK XPENDING XDEL XSETID`,
  3: `RESTORE BITOP HSET HMSET LMPOP ZRANGEBYSCORE ZRANGEBYLEX ZREVRANGE ZREVRANGEBYSCORE ZREVRANGEBYLEX ZRANGE ZADD ZMPOP
    ZUNIONSTORE ZINTERSTORE ZDIFFSTORE XRANGE XREVRANGE XTRIM XACK`,
  4: 'ZRANGESTORE XADD',
  5: 'XCLAIM XAUTOCLAIM',
}
const MOST = byName(EXACTLY)
const LEAST = new Map([...MOST, ...byName(AT_LEAST)])

export function checkCounts({ names }: Script, refuse: Refuse): void {
  for (const call of redisCalls(names)) {
    const [least, most, has] = [LEAST.get(call.name), MOST.get(call.name), call.args.length]
    // No argument at all is refused as no key.
    if (least !== undefined && has > 0 && has < least && !isOpenEnded(call))
      refuse(
        lineOf(call.node),
        `${call.name} has ${has} of ${most === undefined ? `at least ${least}` : least} arguments: write the missing ones behind it`,
      )
    if (most !== undefined && has > most)
      refuse(lineOf(call.node), `${call.name} has ${has} arguments and takes ${most}: remove the last ones`)
  }
}

/** Whether the last one may be several. */
function isOpenEnded({ args }: RedisCall): boolean {
  const last: Expression | undefined = args.at(-1)
  return last !== undefined && /^VarargLiteral$|CallExpression$/.test(last.type)
}

function byName(groups: Readonly<Record<number, string>>): Map<string, number> {
  return new Map(
    Object.entries(groups).flatMap(([count, names]) =>
      names.split(/\s+/).map((name) => [name, Number(count)] as const),
    ),
  )
}
