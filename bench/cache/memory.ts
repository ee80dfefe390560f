// What an entry takes: MEMORY USAGE of all its keys.

import { Redis } from 'ioredis'
import type { Bench } from '../harness/bench.ts'
import { keyBytes } from '../feed-layout/memory.ts'
import type { Row } from '../harness/print.ts'
import { type Source, toEntry } from './contender.ts'
import { CACHES } from './contenders.ts'
import { openAll } from './open.ts'

const KEYS = 100
const SIZES = [100, 500, 2000]
const KEEP_MS = 3_600_000

export async function tellMemory(bench: Bench): Promise<void> {
  const client = new Redis(bench.port)
  const { sources } = await openAll(bench.port, CACHES, { freshMs: KEEP_MS })
  const rows: Row[] = []
  try {
    for (const [variant, source] of sources) {
      const bytes = new Map<string, number>()
      for (const size of SIZES) bytes.set(`of${size}`, await measure(client, source, size))
      rows.push({ variant, ...Object.fromEntries(bytes) })
    }
  } finally {
    for (const source of sources.values()) await source.close()
    await client.flushall('SYNC')
    client.disconnect()
  }
  bench.report(`bytes of an entry, of ${KEYS} whose JSON has ${SIZES.join(', ')} bytes`, rows)
}

async function measure(client: Redis, source: Source, size: number): Promise<number> {
  await client.flushall('SYNC')
  for (let at = 0; at < KEYS; at++) {
    const key = `key-${String(at).padStart(5, '0')}`
    await source.get(key, async () => toEntry(key, size))
  }
  return (await keyBytes(client, '')) / KEYS
}
