// Question: how much does a write to an index of autocomplete send to the append-only file, and so to each replica?
// Expectation: at most 10 kB where a thousand titles begin alike, whatever score they have and however many are there; no call of
// many long texts keeps the server for more than 10 ms.

import { Redis } from 'ioredis'
import { startRedis } from '../test/servers/redis.ts'
import { measureCalls } from './autocomplete/calls.ts'
import { measureWrites } from './autocomplete/writes.ts'
import type { Bench } from './harness/bench.ts'

export async function run(bench: Bench): Promise<void> {
  const server = await startRedis({ aof: 'no', args: ['--auto-aof-rewrite-percentage', '0'] })
  const client = new Redis(server.port)
  try {
    await measureWrites(bench.on(server, client), client)
  } finally {
    client.disconnect()
    await server.stop()
  }
  await measureCalls(bench)
}
