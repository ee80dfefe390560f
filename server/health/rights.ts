// Whether the user of Redis may run what the scripts call. A script asks the server about each command, and runs none.

import { createHash } from 'node:crypto'
import type { Redis } from 'ioredis'

/**
 * Commands without which some structure fails, each with all arguments that it needs: Redis 7.0 ends by a fault of
 * memory if it is asked about a command without its key (K). A test compares them with the contract.
 */
export const EXAMPLES: readonly string[] = [
  'append K 1,del K,eval 1 1 K,evalsha 1 1 K,exists K,get K,getrange K 1 2,hdel K 1,hexists K 1,hget K 1,hgetall K',
  'hincrby K 1 2,hkeys K,hlen K,hmget K 1,hrandfield K,hscan K 0,hset K 1 2,lindex K 1,llen K,lpop K,lpush K 1',
  'lrange K 1 2,lrem K 1 2,ltrim K 1 2,mget K,persist K,pexpire K 1,pttl K,rename K K,rpush K 1,sadd K 1,scard K',
  'script load 1,set K 1,setrange K 1 2,srem K 1,sscan K 0,strlen K,time,unlink K,xadd K * 1 2,xdel K 1',
  'xinfo stream K,xlen K,xrange K 1 2,xrevrange K 1 2,zadd K 1 2,zcard K,zcount K 1 2,zlexcount K 1 2,zmscore K 1',
  'zpopmin K,zrange K 1 2,zrangebylex K 1 2,zrangebyscore K 1 2,zrank K 1,zrem K 1,zremrangebyrank K 1 2',
  'zrevrangebylex K 1 2,zscore K 1',
].flatMap((line) => line.split(','))

// Its arguments: how many keys, the keys, the examples. A key is one of each structure, because a user may have a
// command only for keys that need it. Redis 6.2 cannot be asked, and TIME is what every script calls.
const SCRIPT = `
local function may(example, key)
  local words = {}
  for word in string.gmatch(example, '%S+') do words[#words + 1] = word == 'K' and key or word end
  if redis.acl_check_cmd then
    local known, allowed = pcall(redis.acl_check_cmd, unpack(words))
    return known and allowed
  end
  return example ~= 'time' or redis.pcall('TIME').err == nil
end
local missing, behind = {}, tonumber(ARGV[1]) + 1
for at = behind + 1, #ARGV do
  local allowed = false
  for key = 2, behind do allowed = allowed or may(ARGV[at], ARGV[key]) end
  if not allowed then missing[#missing + 1] = ARGV[at] end
end
return missing`
const SHA1 = createHash('sha1').update(SCRIPT).digest('hex')

/** Null if it may run all on one of the keys; otherwise names what it may not. */
export async function lackOfRights(client: Redis, keys: readonly string[]): Promise<string | null> {
  const missing = await missingOf(client, [String(keys.length), ...keys, ...EXAMPLES])
  return missing.length === 0 ? null : mayNotRun(missing.map(commandOf))
}

export function mayNotRun(commands: readonly string[]): string {
  const names = commands.join(', ').toUpperCase()
  return `this user of Redis may not run ${names}; docs/compatibility.md names what it needs`
}

export function commandOf(example: string): string {
  return example.split(' ', example.startsWith('script ') ? 2 : 1).join(' ')
}

async function missingOf(client: Redis, args: readonly string[]): Promise<string[]> {
  try {
    return namesIn(await client.evalsha(SHA1, 0, ...args))
  } catch (error) {
    if (isForbidden(error)) return ['evalsha']
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
  }
  try {
    return namesIn(await client.eval(SCRIPT, 0, ...args))
  } catch (error) {
    if (isForbidden(error)) return ['eval']
    throw error
  }
}

function isForbidden(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOPERM')
}

function namesIn(answer: unknown): string[] {
  return Array.isArray(answer) ? answer.map(String) : []
}
