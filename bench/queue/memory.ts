// What a waiting job occupies: each contender alone on the server.

import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { usedBytes } from '../feed-layout/memory.ts'
import type { Bench } from '../harness/bench.ts'
import type { Row } from '../harness/print.ts'
import { bullmq } from './bullmq.ts'
import type { Source } from './contender.ts'
import { CROWDED } from './contenders.ts'
import { fill, toJob } from './jobs.ts'
import { judgeTimes } from './judges.ts'
import { withStands } from './stands.ts'

const WAITING = 1_000_000
/** Among fewer jobs what the server does beside them shows in the memory of one. */
const ENOUGH = 10_000
/** Of those that have no call for many, a tenth. */
const WITHOUT_BULK = 10
const ASK_MS = 10

export async function compareMemory(bench: Bench): Promise<void> {
  const memory = await measureAll(bench, '')
  judgeTimes(bench, 'memory of a waiting job against BullMQ', memory, bullmq.name, (bytes) => bytes, {
    atMost: 0.5,
  })
}

/** The same on a server that writes to a disk. */
export async function compareMemoryOnDisk(bench: Bench, where: string): Promise<void> {
  await measureAll(bench, where)
}

async function measureAll(bench: Bench, where: string): Promise<ReadonlyMap<string, number>> {
  const memory = new Map<string, number>()
  const rows: Row[] = []
  for (const contender of CROWDED) {
    await withStands(
      bench,
      async ({ sources }) => {
        const source = sources.get(contender.name)
        if (source === undefined) return
        const waiting = countFor(source, bench.quick ? ENOUGH : WAITING)
        const bytesPerJob = await measure(bench, source, waiting)
        memory.set(contender.name, bytesPerJob)
        rows.push({ variant: contender.name, waiting, bytesPerJob })
      },
      [contender],
    )
  }
  bench.report(`memory of a waiting job${where}`, rows)
  return memory
}

function countFor(source: Source, most: number): number {
  return source.addBulk === undefined ? Math.max(ENOUGH, most / WITHOUT_BULK) : most
}

async function measure(bench: Bench, source: Source, waiting: number): Promise<number> {
  const client = new Redis(bench.port)
  try {
    await warmUp(source, client)
    const before = await keptBytes(client)
    await fill(source, waiting)
    return ((await keptBytes(client)) - before) / waiting
  } finally {
    client.disconnect()
  }
}

/** One job and what comes with the first, which is not of each. */
async function warmUp(source: Source, client: Redis): Promise<void> {
  await source.add(toJob(0))
  await client.flushall('SYNC')
}

/** Once nothing is left that waits to be written to the disk. */
async function keptBytes(client: Redis): Promise<number> {
  while (/aof_buffer_length:[1-9]/.test(await client.info('persistence'))) await sleep(ASK_MS)
  return usedBytes(client)
}
