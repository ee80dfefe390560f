import type { Redis } from 'ioredis'
import { timedOnProcessor } from '../harness/on-processor.ts'
import { largest } from '../harness/statistics.ts'

const TIMES = 'script times'
/** Shorter ones would only cost. */
const FROM_SECONDS = 0.0005

/** The script, which notes its time on a processor where that is long. */
export function timed(source: string): string {
  return timedOnProcessor(source, `if took > ${FROM_SECONDS} then redis.call('RPUSH', '${TIMES}', took) end`)
}

export async function forgetTimes(client: Redis): Promise<void> {
  await client.del(TIMES)
}

/** In milliseconds; 0 where all were short. */
export async function longestOnProcessorMs(client: Redis): Promise<number> {
  const seconds = await client.lrange(TIMES, 0, -1)
  return largest([0, ...seconds.map(Number)]) * 1000
}
