// Question: what does a post, a page and a claim cost over HTTP, and how many clients does a process bear?
// Expectation: over 20,000 posts a second on two cores at 45 µs of the service and 10 µs of Redis each,
// pages of 20 at 110 and 41 µs, and 3,000 clients served evenly and without an error.

import { Redis } from 'ioredis'
import { Generator } from './feed-http/generator.ts'
import { type Kind, type Measured, measureRound, type Round, summarize } from './feed-http/measure.ts'
import { bulkPost, claims, pages, posts } from './feed-http/requests.ts'
import { givenTarget, startService, type Target } from './feed-http/target.ts'
import type { Bench, Goal } from './harness/bench.ts'
import { cpuOf } from './harness/server-time.ts'

const ROUNDS = 5
const QUICK_ROUNDS = 1
const PER_CLAIM = 20

export async function run(bench: Bench): Promise<void> {
  const redis = new Redis(bench.port)
  const generator = new Generator()
  const ours = await startService(bench.port)
  const other = givenTarget(process.env)
  try {
    const measured = await measureAll(bench, generator, ours, redis)
    judge(bench, measured)
    if (other !== null) compare(bench, measured, await measureAll(bench, generator, other, null))
  } finally {
    generator.close()
    await ours.close()
    redis.disconnect()
  }
}

/** `redis`: of the target, emptied before each kind of request; null for one that is not ours. */
async function measureAll(
  bench: Bench,
  generator: Generator,
  target: Target,
  redis: Redis | null,
): Promise<Map<string, Measured>> {
  const kinds = kindsOf(bench.quick)
  const rounds = new Map<string, Round[]>(kinds.map(({ name }) => [name, []]))
  const count = bench.quick ? QUICK_ROUNDS : ROUNDS
  for (let round = 0; round <= count; round++) {
    for (const kind of kinds) {
      await redis?.flushall()
      if (kind.requests !== POSTS) await fill(generator, target, kind)
      const result = await measureRound(generator, target, redis && bench.pid, kind, bench.quick ? 1000 : Infinity)
      if (round > 0) rounds.get(kind.name)?.push(result)
    }
  }
  const measured = new Map([...rounds].map(([name, results]) => [name, summarize(name, results)]))
  bench.report(`${target.name}: requests over HTTP`, [...measured.values()])
  return measured
}
