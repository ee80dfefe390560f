// Question: do the largest jobs, more at once than a worker's claim may return, delay a script or get lost?
// Expectation: each of 80 jobs of 4 MiB runs once, and no script takes 50 milliseconds.

import { Redis } from 'ioredis'
import { rewriting } from '../test/faults/rewriting-driver.ts'
import type { Bench } from './harness/bench.ts'
import { builtLibrary } from './harness/built.ts'
import { timed } from './queue-millions/timed-scripts.ts'
import { watched } from './queue-millions/watched.ts'

const JOBS = 80
const QUICK_JOBS = 4
const CONCURRENCY = 200
const NAME = 'large'
/** With its name, and the quotes of JSON, as large as a job may be. */
const PAYLOAD = 'x'.repeat(4 * 1024 * 1024 - NAME.length - 2)

export async function run(bench: Bench): Promise<void> {
  const jobs = bench.quick ? QUICK_JOBS : JOBS
  const built = await builtLibrary()
  const client = new Redis(bench.port)
  const redis = built.perilune(rewriting(built.ioredis(client), ({ source }) => timed(source)))
  const queue = redis.queue<{ [NAME]: string }>('large-jobs')
  const runs = new Map<string, number>()

  const added = await watched(client, bench.port, async () => {
    for (let at = 0; at < jobs; at += 1) await queue.enqueue(NAME, PAYLOAD)
  })
  const done = await watched(client, bench.port, async () => {
    let left = jobs
    await new Promise<void>((resolve) => {
      const onSettled = (): void => {
        left -= 1
        if (left === 0) resolve(worker.close())
      }
      const handle = ({ id, payload: { length } }: { id: string; payload: string }): number => {
        runs.set(id, (runs.get(id) ?? 0) + 1)
        return length
      }
      const worker = queue.work(async (job) => handle(job), { concurrency: CONCURRENCY, onSettled })
    })
  })
  const once = [...runs.values()].filter((times) => times === 1).length
  bench.report(`${jobs} jobs of 4 MiB, concurrency ${CONCURRENCY}`, [
    { variant: 'added one after another', ...added },
    { variant: 'done by one worker', ...done, ranOnce: once },
  ])
  bench.judge('jobs that ran once', { all: once }, { atLeast: jobs })
  const longest = { added: added.longestScriptMs, done: done.longestScriptMs }
  bench.judge('the longest script, in milliseconds', longest, { atMost: 50 })
  await queue.clear()
  await redis.close()
  client.disconnect()
}
