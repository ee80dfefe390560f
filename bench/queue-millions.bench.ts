// Question: does a million jobs that fall due at once, are cleaned away or were kept too long hold up anybody else?
// Expectation: no script takes longer than ten milliseconds, for each does a bounded part, and a bystander's p99 stays under
// twenty. Control: a script that always does the same; what its longest run takes more than its steps do, the machine adds.

import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Bench } from './harness/bench.ts'
import { builtLibrary } from './harness/built.ts'
import type { Row } from './harness/print.ts'
import { timed } from './queue-millions/timed-scripts.ts'
import { type Noticed, watched } from './queue-millions/watched.ts'
import { rewriting } from '../test/faults/rewriting-driver.ts'

type Jobs = { job: string }
type Delay = { readonly delay?: `${number}ms` }
type Queue = Awaited<ReturnType<typeof open>>['queue']

/** Something that there are many of, and what is done with them. */
interface Scene {
  readonly what: string
  prepare(queue: Queue, jobs: number): Promise<unknown>
  work(queue: Queue, jobs: number): Promise<unknown>
}

const MILLION = 1_000_000
const QUICK = 5000
const THOUSAND = 1000
const CROWD = 50
/** A delayed job is enqueued in less time than this says. */
const JOBS_A_MS = 8
const CONTROL = 'control: steps that are always the same'
/** Takes about as long as the longest of the others should. */
const SAME_STEPS = 'local sum = 0 for step = 1, 100000 do sum = sum + step % 7 end return sum'
const CONTROL_SHARE = 100

const SCENES: readonly Scene[] = [
  {
    what: 'delayed jobs are due at once, and done',
    prepare: async (queue, jobs) => {
      const dueAtMs = Date.now() + Math.max(2000, jobs / JOBS_A_MS)
      await fill(queue, jobs, () => ({ delay: `${dueAtMs - Date.now()}ms` }))
      await sleep(dueAtMs - Date.now())
    },
    work: (queue, jobs) => workOn(queue, jobs),
  },
  {
    what: 'dead jobs of one kind are dropped',
    prepare: async (queue, jobs) => {
      await fill(queue, jobs)
      for (let claimed = await queue.claim({ limit: 200 }); claimed.length > 0; ) {
        await Promise.all(claimed.map((job) => job.fail({ kind: 'odd' })))
        claimed = await queue.claim({ limit: 200 })
      }
    },
    work: (queue) => queue.dead.drop('odd'),
  },
  {
    what: 'jobs that are done and kept are kept no more: a tenth as many acks',
    prepare: async (queue, jobs) => {
      await queue.settings.set({ retention: { count: jobs } })
      await fill(queue, jobs)
      await workOn(queue, jobs)
      await queue.settings.set({ retention: { count: THOUSAND } })
      await fill(queue, jobs / 10)
    },
    work: (queue, jobs) => workOn(queue, jobs / 10),
  },
  {
    what: 'the queue is cleared',
    prepare: (queue, jobs) => fill(queue, jobs),
    work: (queue) => queue.clear(),
  },
]

export async function run(bench: Bench): Promise<void> {
  const jobs = bench.quick ? QUICK : MILLION
  const rows: Row[] = []
  for (const scene of SCENES) rows.push({ variant: scene.what, jobs, ...(await play(bench, scene, jobs)) })
  const control = { variant: CONTROL, jobs: 0, ...(await playControl(bench, jobs / CONTROL_SHARE)) }
  bench.report('what others notice', [...rows, control])
  judge(bench, rows, 'longestScriptMs', 'the longest script, in milliseconds', 10)
  judge(bench, rows, 'longestOnProcessorMs', 'the longest script, in milliseconds on a processor', 10)
  judge(bench, rows, 'p99Ms', 'p99 of a bystander, in milliseconds', 20)
}

async function play(bench: Bench, scene: Scene, jobs: number): Promise<Noticed> {
  const client = new Redis(bench.port)
  const { queue, close } = await open(bench.port)
  await scene.prepare(queue, jobs)
  const noticed = await watched(client, bench.port, () => scene.work(queue, jobs))
  await close()
  await client.flushall('ASYNC')
  client.disconnect()
  return noticed
}

async function playControl(bench: Bench, calls: number): Promise<Noticed> {
  const client = new Redis(bench.port)
  const sha = String(await client.script('LOAD', timed(SAME_STEPS)))
  const callEach = async (): Promise<void> => {
    for (let call = 0; call < calls; call += CROWD) await client.evalsha(sha, 0)
  }
  const noticed = await watched(client, bench.port, () =>
    Promise.all(Array.from({ length: CROWD }, callEach)),
  )
  client.disconnect()
  return noticed
}

async function open(port: number) {
  const built = await builtLibrary()
  const client = new Redis({ port })
  const redis = built.perilune(rewriting(built.ioredis(client), ({ source }) => timed(source)))
  await redis.preload()
  const close = async (): Promise<void> => {
    await redis.close()
    client.disconnect()
  }
  return { queue: redis.queue<Jobs>('millions'), close }
}

async function fill(queue: Queue, jobs: number, options: () => Delay = () => ({})): Promise<void> {
  for (let at = 0; at < jobs; at += THOUSAND) {
    const job = { name: 'job', payload: '0123456789', ...options() } as const
    await queue.enqueueMany(Array.from({ length: Math.min(THOUSAND, jobs - at) }, () => job))
  }
}

async function workOn(queue: Queue, jobs: number): Promise<void> {
  let left = jobs
  await new Promise<void>((resolve) => {
    const onSettled = (): void => {
      left -= 1
      if (left === 0) resolve(worker.close())
    }
    const worker = queue.work(async () => {}, { concurrency: CROWD, onSettled })
  })
}

function judge(
  bench: Bench,
  rows: readonly Row[],
  column: 'longestScriptMs' | 'longestOnProcessorMs' | 'p99Ms',
  target: string,
  atMost: number,
) {
  const values = Object.fromEntries(rows.map((row) => [row.variant, Number(row[column])]))
  bench.judge(target, values, { atMost })
}
