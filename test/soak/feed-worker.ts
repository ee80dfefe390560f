// One process of a feed soak: some producers and one tailing observer, pausing at random. It writes its
// history line by line and synchronously, so that it survives whatever becomes of the process.

import { openSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { AmbiguousError, type Driver, type Feed, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { nodeRedis } from 'perilune/node-redis'
import { createClient } from 'redis'
import type { HistoryLine } from './feed-history.ts'
import { seeded } from './random.ts'

interface Note {
  by: string
  n: number
}

export interface Assignment {
  name: string
  port: number
  feed: string
  history: string
  seed: number
  producers: number
  forMs: number
  client: 'ioredis' | 'node-redis'
}

const assignment = JSON.parse(process.argv[2] ?? '') as Assignment
const file = openSync(assignment.history, 'a')
const record = (line: HistoryLine): void => void writeSync(file, `${JSON.stringify(line)}\n`)
process.on('unhandledRejection', (reason) => record({ kind: 'broken', what: `unhandled: ${String(reason)}` }))

const { driver, disconnect } = await connect()
const redis = perilune(driver, { deadline: '20s' })
const feed = redis.feed<Note>(assignment.feed)
const stop = new AbortController()

const observing = observe(feed, stop.signal)
await Promise.all(Array.from({ length: assignment.producers }, (_, at) => produce(feed, at)))
process.send?.('produced')
await new Promise((resolve) => process.once('message', resolve))
stop.abort()
await finish(feed, await observing)
await redis.close()
disconnect()
process.disconnect()

async function produce(to: Feed<Note>, at: number): Promise<void> {
  const random = seeded(assignment.seed + at)
  const by = `${assignment.name}.${at}`
  const endsAt = performance.now() + assignment.forMs
  for (let n = 1; performance.now() < endsAt; n++) {
    try {
      const { id } = await to.append({ by, n })
      record({ kind: 'acked', by, n, id })
    } catch (error) {
      if (error instanceof AmbiguousError) record({ kind: 'unknown', by, n })
      else record({ kind: 'broken', what: `append of ${by}: ${String(error)}` })
    }
    if (random() < 0.05) await sleep(random() * 40)
  }
}

/** Follows the feed until told to stop. Resolves to the marker it came to. */
async function observe(from: Feed<Note>, signal: AbortSignal): Promise<string | undefined> {
  const random = seeded(assignment.seed + 1000)
  let marker: string | undefined
  try {
    for await (const message of from.tail({ limit: 50, signal })) {
      saw(message.id, message.body, message.lostBefore)
      marker = message.marker ?? marker
      if (random() < 0.01) await sleep(random() * 60)
    }
  } catch (error) {
    if (!signal.aborted) record({ kind: 'broken', what: `tail: ${String(error)}` })
  }
  return marker
}

/** Reads what the tail had not come to. */
async function finish(from: Feed<Note>, marker: string | undefined): Promise<void> {
  let after = marker
  for (;;) {
    const page = await from.read({ limit: 1000, ...(after === undefined ? {} : { after }) })
    for (const { id, body } of page.messages) saw(id, body, page.gap || page.reset ? 'gap' : null)
    after = page.next
    if (!page.more) return
  }
}

function saw(id: string, { by, n }: Note, lostBefore: string | null): void {
  record({ kind: 'seen', observer: assignment.name, by, n, id, lostBefore })
}

async function connect(): Promise<{ driver: Driver; disconnect(): void }> {
  const { port } = assignment
  if (assignment.client === 'ioredis') {
    const client = new Redis(port, { maxRetriesPerRequest: null, retryStrategy: () => 50 })
    client.on('error', () => undefined)
    return { driver: ioredis(client), disconnect: () => client.disconnect() }
  }
  const client = createClient({ socket: { port, reconnectStrategy: () => 50 } })
  client.on('error', () => undefined)
  await client.connect()
  return { driver: nodeRedis(client), disconnect: () => client.destroy() }
}
