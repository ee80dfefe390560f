// From the call that adds a job to the start of its handler, while the worker is idle.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from '../harness/bench.ts'
import { median, percentile } from '../harness/statistics.ts'
import { floor } from './floor.ts'
import type { Worker } from './contender.ts'
import { toJob } from './jobs.ts'
import { judgeHeardOrNot } from './judges.ts'
import { type Stands, type With, withStands } from './stands.ts'
import { jobsOf } from './turns.ts'
import { CROWD } from './workers.ts'

const ROUNDS = 5
const JOBS = 200
const WARM_UP_JOBS = 500
/** After a job, that the worker has gone back to waiting. */
const PAUSE_MS = 2

interface Latency {
  readonly p50Ms: number
  readonly p99Ms: number
}

type Latencies = ReadonlyMap<string, Latency>

export async function compareLatency(bench: Bench): Promise<void> {
  await withStands(bench, async (stands) => judge(bench, await race(bench, stands, '')))
}

/** The same on a server that writes to a disk. */
export async function compareLatencyOnDisk(bench: Bench, where: string): Promise<void> {
  await withStands(bench, async (stands) => void (await race(bench, stands, where)))
}

async function race(bench: Bench, { offering, empty }: Stands, where: string): Promise<Latencies> {
  const racers = new Map<string, Racer>()
  for (const [name, source] of offering('work')) {
    // It wakes no one.
    if (name !== floor.name) racers.set(name, await toRacer(source))
  }
  // The first round does not count: the engine compiles what runs for the first time.
  for (const racer of racers.values()) await racer.warmUp(jobsOf(bench, WARM_UP_JOBS))
  for (let round = 0; round < (bench.quick ? 1 : ROUNDS); round++) {
    for (const racer of racers.values()) await racer.run(jobsOf(bench, JOBS))
  }
  for (const { worker } of racers.values()) await worker.close()
  await empty()
  const results = new Map([...racers].map(([name, { latenciesMs }]) => [name, toLatency(latenciesMs)]))
  bench.report(
    `from add to start, worker of ${CROWD} that is idle${where}`,
    [...results].map(([variant, latency]) => ({ variant, ...latency })),
  )
  return results
}

interface Racer {
  readonly worker: Worker
  readonly latenciesMs: number[]
  run(jobs: number): Promise<void>
  /** As `run`, and what was measured is forgotten. */
  warmUp(jobs: number): Promise<void>
}

async function toRacer(source: With<'work'>): Promise<Racer> {
  const latenciesMs: number[] = []
  let addedAt = 0
  let next = 0
  let finished = (): void => {}
  const handle = async (): Promise<void> => void latenciesMs.push(performance.now() - addedAt)
  const worker = await source.work({ concurrency: CROWD, handle, done: () => finished() })
  worker.start()
  const run = async (jobs: number): Promise<void> => {
    for (let left = jobs; left > 0; left--) {
      await sleep(PAUSE_MS)
      const done = new Promise<void>((resolve) => (finished = resolve))
      addedAt = performance.now()
      await Promise.all([source.add(toJob(next++)), done])
    }
  }
  const warmUp = async (jobs: number): Promise<void> => {
    await run(jobs)
    latenciesMs.length = 0
  }
  return { worker, latenciesMs, run, warmUp }
}

function toLatency(latenciesMs: readonly number[]): Latency {
  return { p50Ms: median(latenciesMs), p99Ms: percentile(latenciesMs, 0.99) }
}

function judge(bench: Bench, results: Latencies): void {
  const title = (which: string): string => `from add to start, ${which} against BullMQ`
  judgeHeardOrNot(bench, title('p50'), results, ({ p50Ms }) => p50Ms, { atMost: 1 })
  judgeHeardOrNot(bench, title('p99'), results, ({ p99Ms }) => p99Ms, { atMost: 1.1 })
}
