// How long the script calls of one addMany keep the server.

import { Redis } from 'ioredis'
import type { Autocomplete } from 'perilune'
import type { Bench } from '../harness/bench.ts'
import { builtLibrary } from '../harness/built.ts'
import type { Row } from '../harness/print.ts'
import { median } from '../harness/statistics.ts'
import { alike, long, type Texts, twoWords } from './texts.ts'

const ROUNDS = 20
const QUICK_ROUNDS = 3
const ENTRIES = 100
const MOST_MS = 10
const KINDS: Readonly<Record<string, Texts>> = {
  'two words': twoWords,
  'titles that share 40 characters': alike,
  'eight words that share 59 letters': long,
}

export async function measureCalls(bench: Bench): Promise<void> {
  const client = new Redis(bench.port)
  const { perilune, ioredis } = await builtLibrary()
  const redis = perilune(ioredis(client), { namespace: 'calls', deadline: '60s' })
  const rounds = bench.quick ? QUICK_ROUNDS : ROUNDS
  const rows: (Row & { slowestMs: number })[] = []
  try {
    // What takes a tenth of a millisecond is noted: all scripts do.
    await client.config('SET', 'slowlog-log-slower-than', '100')
    for (const [variant, text] of Object.entries(KINDS)) {
      rows.push({ variant, ...(await measure(client, redis.autocomplete(variant), text, rounds)) })
    }
  } finally {
    client.disconnect()
  }
  bench.report('addMany of 100: script calls, and how long they take', rows)
  for (const { variant, slowestMs } of rows) {
    bench.judge(`addMany of 100, ${variant}: slowest call, ms`, { Perilune: slowestMs }, { atMost: MOST_MS })
  }
}

interface Measured {
  readonly callsPerMany: number
  readonly callMs: number
  /** Of each round the slowest, of these the median. */
  readonly slowestMs: number
}

async function measure(client: Redis, index: Autocomplete, text: Texts, rounds: number): Promise<Measured> {
  const slowest: number[] = []
  const before = await scriptCalls(client)
  for (let round = 0; round < rounds; round++) {
    await client.call('SLOWLOG', 'RESET')
    await index.addMany(entriesOf(text, round * ENTRIES))
    slowest.push(await slowestCall(client))
  }
  const after = await scriptCalls(client)
  const calls = after.calls - before.calls
  return {
    callsPerMany: calls / rounds,
    callMs: (after.usec - before.usec) / calls / 1000,
    slowestMs: median(slowest),
  }
}

function entriesOf(text: Texts, from: number): { id: string; text: string; score: number }[] {
  return Array.from({ length: ENTRIES }, (_, at) => ({
    id: `e${from + at}`,
    text: text(from + at),
    score: from + at,
  }))
}

async function slowestCall(client: Redis): Promise<number> {
  const entries = (await client.call('SLOWLOG', 'GET', '128')) as [number, number, number][]
  return Math.max(0, ...entries.map(([, , us]) => us)) / 1000
}

async function scriptCalls(client: Redis): Promise<{ calls: number; usec: number }> {
  const found = /cmdstat_evalsha:calls=(\d+),usec=(\d+)/.exec(await client.info('commandstats'))
  return { calls: Number(found?.[1] ?? 0), usec: Number(found?.[2] ?? 0) }
}
