// Question: what does a job cost, from its adding to its end, beside BullMQ, bee-queue and qless?
// Expectation: with 50 jobs in flight five times BullMQ's jobs a second for a fifth of its Redis CPU, as calls
// are gathered; adds six times, bulk ten times as fast; an idle worker starts a job no later; half the memory;
// and four times the pairs of qless, one at a time. No cost grows with the jobs that wait or are active.

import { Redis } from 'ioredis'
import { startRedis } from '../test/servers/redis.ts'
import type { Bench } from './harness/bench.ts'
import { compareActive } from './queue/active.ts'
import { compareAdds, compareAddsOnDisk } from './queue/adds.ts'
import { drawCharts } from './queue/charts.ts'
import { compareLatency, compareLatencyOnDisk } from './queue/latency.ts'
import { compareMemory, compareMemoryOnDisk } from './queue/memory.ts'
import { comparePairs, comparePairsOnDisk } from './queue/pairs.ts'
import { reportSettings } from './queue/stands.ts'
import { compareWaiting } from './queue/waiting.ts'
import { compareWorkers, compareWorkersOnDisk } from './queue/workers.ts'

export { drawCharts as charts }

const WHERE = ', AOF everysec'

export async function run(bench: Bench): Promise<void> {
  await reportSettings(bench)
  await compareAdds(bench)
  await compareWorkers(bench)
  await compareLatency(bench)
  await comparePairs(bench)
  await compareMemory(bench)
  await compareWaiting(bench)
  await compareActive(bench)
  await compareOnDisk(bench)
}

async function compareOnDisk(bench: Bench): Promise<void> {
  const server = await startRedis({ aof: 'everysec' })
  const client = new Redis(server.port)
  try {
    const onDisk = bench.on(server, client)
    await compareAddsOnDisk(onDisk, WHERE)
    await compareWorkersOnDisk(onDisk, WHERE)
    await compareLatencyOnDisk(onDisk, WHERE)
    await comparePairsOnDisk(onDisk, WHERE)
    await compareMemoryOnDisk(onDisk, WHERE)
  } finally {
    client.disconnect()
    await server.stop()
  }
}
