// A removed stream entry leaves a hole until its whole node is empty.

import type { Redis } from 'ioredis'
import type { Bench } from '../harness/bench.ts'
import { type Feed, PAGE } from './contender.ts'
import { readPage } from './costs.ts'
import { fill } from './fill.ts'
import { keyBytes } from './memory.ts'

/** Measures feeds of which 10 of 20 and 18 of 20 messages were acked, as one worker after another does it. */
export async function measureHoles(bench: Bench, client: Redis, feeds: Record<string, Feed>): Promise<void> {
  const size = bench.quick ? 1000 : 100_000
  for (const acked of [10, 18]) {
    await client.flushall()
    const title = `${acked} of ${PAGE} messages acked, ${size} at first`
    const rows = []
    const pages: Record<string, () => Promise<void>> = {}
    for (const [name, feed] of Object.entries(feeds)) {
      const { markers } = await fill(client, name, feed, size)
      await ackSome(feed, size, acked)
      const left = (size * (PAGE - acked)) / PAGE
      rows.push({ variant: name, bytesPerMessage: (await logBytes(client, feed)) / left })
      // Towards the end a page is no longer full.
      pages[name] = () => readPage(feed, markers.slice(0, markers.length / 2))
    }
    bench.report(`memory, ${title}`, rows)
    await bench.compare(`page of ${PAGE}, ${title}`, pages)
  }
}

async function ackSome(feed: Feed, size: number, acked: number): Promise<void> {
  for (let at = 0; at < size; at += PAGE) {
    const ack = await feed.claim()
    await ack(acked)
  }
}

/** Without the claims' own keys. */
async function logBytes(client: Redis, { prefix }: Feed): Promise<number> {
  const parts = await Promise.all(['log', 'packed'].map((part) => keyBytes(client, `${prefix}:${part}`)))
  return parts.reduce((sum, bytes) => sum + bytes, 0)
}
