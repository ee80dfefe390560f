// Question: what does a post, a page and a claim cost over HTTP, and how many clients does a process bear?
// Expectation: over 20,000 posts a second on two cores at 45 µs of the service and 10 µs of Redis each,
// pages of 20 at 110 and 41 µs, and 3,000 clients served evenly and without an error.

import { Generator } from './feed-http/generator.ts'
import { KINDS, type Kind, QUICK_KINDS } from './feed-http/kinds.ts'
import { type Measured, type Measuring, measureRound, type Round, summarize } from './feed-http/measure.ts'
import { removal } from './feed-http/requests.ts'
import { givenTarget, startService, type Target } from './feed-http/target.ts'
import type { Bench, Goal } from './harness/bench.ts'

const ROUNDS = 5
const QUICK_ROUNDS = 1
const QUICK_MS = 500

type Results = ReadonlyMap<string, Measured>

export async function run(bench: Bench): Promise<void> {
  const generator = new Generator()
  const ours = await startService(bench.port)
  try {
    const results = await measureAll(bench, generator, { target: ours, redisPid: bench.pid })
    judge(bench, results)
    const other = givenTarget(process.env)
    if (other === null) return
    compare(bench, results, await measureAll(bench, generator, { target: other, redisPid: null }))
  } finally {
    generator.close()
    await ours.close()
  }
}

async function measureAll(bench: Bench, generator: Generator, measuring: Measuring): Promise<Results> {
  const kinds = bench.quick ? QUICK_KINDS : KINDS
  const limitMs = bench.quick ? QUICK_MS : Infinity
  const rounds = new Map<string, Round[]>(kinds.map(({ name }) => [name, []]))
  for (let round = 0; round <= (bench.quick ? QUICK_ROUNDS : ROUNDS); round++) {
    for (const kind of kinds) {
      await prepare(generator, measuring.target, kind)
      const result = await measureRound(generator, measuring, { ...kind, limitMs })
      if (round > 0) rounds.get(kind.name)?.push(result)
    }
  }
  const results = new Map([...rounds].map(([name, all]) => [name, summarize(name, all)]))
  bench.report(`${measuring.target.name}: requests over HTTP`, [...results.values()])
  return results
}

/** Empties the queue, and posts what the kind reads or claims. */
async function prepare(generator: Generator, { host, port }: Target, { before }: Kind): Promise<void> {
  for (const work of [{ requests: [removal()], count: 1 }, before]) {
    if (work.count === 0) continue
    const job = { host, port, connections: 1, limitMs: Infinity, ...work }
    const { errors, complaint } = await generator.run(job)
    if (errors > 0) throw new Error(`${errors} requests before the measurement failed: ${complaint}`)
  }
}

function judge(bench: Bench, results: Results): void {
  const hold = (target: string, column: keyof Measured, names: readonly string[], goal: Goal): void => {
    const found = names.filter((name) => results.has(name))
    bench.judge(
      target,
      Object.fromEntries(found.map((name) => [name, Number(results.get(name)?.[column])])),
      goal,
    )
  }
  const busy = ['post, 16 connections', 'post, 64 connections']
  const pages = ['page of 20, 16 connections', 'page of 20, 64 connections']
  hold('posts a second', 'requestsPerSecond', busy, { atLeast: 20_000 })
  hold('service CPU a post, µs', 'serviceUs', busy, { atMost: 45 })
  hold('service CPU a page of 20, µs', 'serviceUs', pages, { atMost: 110 })
  hold('Redis CPU a post, µs', 'redisUs', busy.slice(1), { atMost: 9.8 })
  hold('Redis CPU a page of 20, µs', 'redisUs', pages.slice(1), { atMost: 41 })
  hold('errors', 'errors', [...results.keys()], { atMost: 0 })
  const crowd = 'post, 3000 connections'
  const served = results.get(crowd)
  if (served === undefined) return
  bench.judge('3,000 clients: p99 against mean', { [crowd]: served.p99Ms / served.meanMs }, { atMost: 4 })
}

/** `theirs`: of the server that `ZAQAR_URL` names; what is not known of it is not judged. */
function compare(bench: Bench, ours: Results, theirs: Results): void {
  const ratios = (name: string, of: (mine: Measured, other: Measured) => number): Record<string, number> =>
    Object.fromEntries(
      [...ours].flatMap(([kind, mine]) => {
        const other = theirs.get(kind)
        const ratio = other === undefined || !kind.startsWith(name) ? Number.NaN : of(mine, other)
        return Number.isNaN(ratio) ? [] : [[kind, ratio]]
      }),
    )
  const rate = ratios('post', (mine, other) => mine.requestsPerSecond / other.requestsPerSecond)
  const cpu = (mine: Measured, other: Measured): number => other.serviceUs / mine.serviceUs
  bench.judge('posts a second against the other server', rate, { atLeast: 8 })
  bench.judge('service CPU a post, how much less', ratios('post', cpu), { atLeast: 14 })
  bench.judge('service CPU a page, how much less', ratios('page', cpu), { atLeast: 20 })
}
