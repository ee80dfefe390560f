// What others notice while something is done: the longest script, and how long a bystander waits for an answer.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Redis } from 'ioredis'
import { largest, percentile } from '../harness/statistics.ts'
import { forgetTimes, longestOnProcessorMs } from './timed-scripts.ts'

/** The figures of a bystander are of about a thousand calls. */
const AT_LEAST_MS = 2000
const BYSTANDER = fileURLToPath(new URL('bystander.ts', import.meta.url))

export interface Noticed {
  readonly seconds: number
  readonly longestScriptMs: number
  readonly longestOnProcessorMs: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export async function watched(client: Redis, port: number, work: () => Promise<unknown>): Promise<Noticed> {
  const bystander = fork(BYSTANDER, [String(port)], { execArgv: ['--import', 'tsx'] })
  await once(bystander, 'message')
  await client.config('SET', 'slowlog-log-slower-than', '500')
  await client.config('SET', 'slowlog-max-len', '100000')
  await client.slowlog('RESET')
  await forgetTimes(client)
  const began = performance.now()
  await work()
  const seconds = (performance.now() - began) / 1000
  await sleep(AT_LEAST_MS - seconds * 1000)
  bystander.send('stop')
  const [latenciesMs] = (await once(bystander, 'message')) as [number[]]
  return {
    seconds,
    longestScriptMs: await longestScriptMs(client),
    longestOnProcessorMs: await longestOnProcessorMs(client),
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
  }
}

/** Of those that took half a millisecond at least. */
async function longestScriptMs(client: Redis): Promise<number> {
  const slow = (await client.slowlog('GET', 100_000)) as [number, number, number, [string]][]
  const scripts = slow.filter(([, , , [command]]) => command.toLowerCase() === 'evalsha')
  return largest([0, ...scripts.map(([, , us]) => us)]) / 1000
}
