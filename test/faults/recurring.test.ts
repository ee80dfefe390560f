// Recurring jobs that many processes set, spawn and work on, some of which die.

import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Redis } from 'ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
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

/** That of each recurring job one run follows the other, and that none was spawned twice. */
function check(did: string[][]): void {
  const firsts = did.filter(([, attempt]) => attempt === '1').map(([id]) => id)
  expect(new Set(firsts).size).toBe(firsts.length)
  for (const recurrence of ['interval', 'cron']) {
    const runs = new Set(did.map(([id = '']) => id).filter((id) => id.startsWith(`${recurrence}@`)))
    const times = [...runs].map((id) => Number(id.split('@')[1])).toSorted((one, other) => one - other)
    expect(times).toEqual(times.map((_, at) => (times[0] ?? 0) + at * 1000))
    expect(times.length).toBeGreaterThan(3)
  }
}

const LONG = { timeout: 60_000 }

test('each run has one job, however many processes set it, with whatever clocks', LONG, async () => {
  const { start, did } = setup()
  start(HOUR)
  start(-HOUR)

  await done(did, 14)

  check(await did())
})

test('processes that are killed and started anew neither lose nor double a run', LONG, async () => {
  const { start, did } = setup()
  start(0)
  for (let restart = 1; restart <= 4; restart += 1) {
    const child = start(restart % 2 === 0 ? HOUR : -HOUR)
    await done(did, restart * 5)
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  // What a killed one held comes back when its lease is over, and is counted as another attempt.
  const { length } = await did()
  await done(did, length + 12)

  check(await did())
})
