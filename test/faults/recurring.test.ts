// Recurring jobs that many processes set, spawn and work on, some of which die.

import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Redis } from 'ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { LONG, tell } from '../proof.ts'
import { forkProgram } from '../programs/fork.ts'
import type { WorkerOrder } from './recurring-worker.ts'

const WORKER = new URL('recurring-worker.ts', import.meta.url)
const HOUR = 3_600_000

interface Setup {
  start(skewMs: number): ChildProcess
  /** The jobs that were done so far, in order: the id, and which attempt. */
  did(): Promise<string[][]>
}

function setup(): Setup {
  const port = inject('redisPort')
  const client = new Redis(port)
  const name = randomUUID()
  const children: ChildProcess[] = []
  onTestFinished(() => {
    for (const child of children) child.kill('SIGKILL')
    client.disconnect()
  })
  const start = (skewMs: number): ChildProcess => {
    const order: WorkerOrder = { port, name, workers: 4, skewMs }
    const child = forkProgram(WORKER, [JSON.stringify(order)], { stdio: 'inherit' })
    children.push(child)
    return child
  }
  const did = async (): Promise<string[][]> =>
    (await client.lrange(`processes:did:${name}`, 0, -1)).map((each) => each.split(' '))
  return { start, did }
}

/** Until so many are done. */
async function done(did: Setup['did'], count: number): Promise<void> {
  while ((await did()).length < count) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** Checks that no run was spawned twice, and that there were runs. */
function expectEachOnce(did: string[][]): void {
  const firsts = did.filter(([, attempt]) => attempt === '1').map(([id]) => id)
  expect(new Set(firsts).size).toBe(firsts.length)
  for (const each of RECURRENCES) expect(timesOf(each, did).length).toBeGreaterThan(3)
}

/** Runs between the first and the last one, one a second, without a job. */
function missing(did: string[][]): string[] {
  return RECURRENCES.flatMap((each) => {
    const times = timesOf(each, did)
    const first = Math.min(...times)
    const last = Math.max(...times)
    const all = Array.from({ length: (last - first) / 1000 + 1 }, (_, at) => first + at * 1000)
    return all.filter((time) => !times.includes(time)).map((time) => `${each}@${time}`)
  })
}

const RECURRENCES = ['interval', 'cron']

function timesOf(recurrence: string, did: string[][]): number[] {
  const runs = new Set(did.map(([id = '']) => id).filter((id) => id.startsWith(`${recurrence}@`)))
  return [...runs].map((id) => Number(id.split('@')[1]))
}

const RESTARTS = LONG ? 50 : 4
const SLOW = { timeout: LONG ? 900_000 : 60_000 }

// bullmq#3499, bull#1003
test('each run has one job, however many processes set it, with whatever clocks', SLOW, async () => {
  const { start, did } = setup()
  start(HOUR)
  start(-HOUR)

  await done(did, 14)

  const runs = await did()
  expectEachOnce(runs)
  expect(missing(runs)).toEqual([])
})

// bullmq#2889, bullmq#2744, bull#747
test('processes that are killed and restarted neither lose nor double a run', SLOW, async () => {
  const { start, did } = setup()
  start(0)
  for (let restart = 1; restart <= RESTARTS; restart += 1) {
    const child = start(restart % 2 === 0 ? HOUR : -HOUR)
    await done(did, restart * 5)
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  // A job of a killed process comes back when its lease is over, and counts as another attempt.
  const { length } = await did()
  await done(did, length + 12)
  await expect.poll(async () => missing(await did())).toEqual([])

  const all = await did()
  const runs = RECURRENCES.flatMap((each) => timesOf(each, all)).length
  tell(`recurring jobs, ${RESTARTS} restarts: ${runs} runs, one job each, in ${all.length} attempts`)
  expectEachOnce(all)
})
