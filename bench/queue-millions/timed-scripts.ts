// How long a script keeps a processor busy. SLOWLOG tells how long it takes, in which it may wait for one.

import type { Redis } from 'ioredis'
import { largest } from '../harness/statistics.ts'

const TIMES = 'script times'
/** Shorter ones would only cost. */
const FROM_SECONDS = 0.0005

/** The script, which notes its time on a processor where that is long. */
export function timed(source: string): string {
  return `local function on_processor()
  local info = redis.call('INFO', 'cpu')
  return string.match(info, 'user_main_thread:(%S+)') + string.match(info, 'sys_main_thread:(%S+)')
end
local began = on_processor()
local function script()
${source}
end
local answer = script()
local took = on_processor() - began
if took > ${FROM_SECONDS} then
  redis.call('RPUSH', '${TIMES}', took)
end
return answer`
}

export async function forgetTimes(client: Redis): Promise<void> {
  await client.del(TIMES)
}

/** In milliseconds; 0 where all were short. */
export async function longestOnProcessorMs(client: Redis): Promise<number> {
  const seconds = await client.lrange(TIMES, 0, -1)
  return largest([0, ...seconds.map(Number)]) * 1000
}
