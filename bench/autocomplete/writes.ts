// Bytes that one addition or removal writes to the append-only file, at some sizes.

import type { Redis } from 'ioredis'
import type { Autocomplete } from 'perilune'
import type { Bench } from '../harness/bench.ts'
import { builtLibrary } from '../harness/built.ts'
import type { Row } from '../harness/print.ts'
import { alike, type Texts, twoWords } from './texts.ts'

const SIZES = [1000, 10_000, 50_000]
const QUICK_SIZES = [1000]
const CALLS = 100
const MOST_BYTES = 10_000
const ENTRIES: Readonly<Record<string, Texts>> = {
  'titles that share 40 characters': alike,
  'two words': twoWords,
}

export async function measureWrites(bench: Bench, client: Redis): Promise<void> {
  const { perilune, ioredis } = await builtLibrary()
  const redis = perilune(ioredis(client), { namespace: 'bench', deadline: '60s' })
  const sizes = bench.quick ? QUICK_SIZES : SIZES
  for (const [name, text] of Object.entries(ENTRIES)) {
    const index = redis.autocomplete(name)
    const rows: Row[] = []
    let [filled, most] = [0, 0]
    for (const size of sizes) {
      await fill(index, text, filled, size)
      filled = size
      for (const [variant, call] of Object.entries(callsOf(index, text, size))) {
        const { mean, max } = await writtenBy(client, call)
        rows.push({ variant, entries: size, bytesPerCall: mean, mostBytes: max })
        most = Math.max(most, max)
      }
    }
    bench.report(`${name}: bytes of the append-only file`, rows)
    bench.judge(`${name}: most bytes of a call`, { Perilune: most }, { atMost: MOST_BYTES })
  }
}

async function fill(index: Autocomplete, text: Texts, from: number, to: number): Promise<void> {
  const entries = Array.from({ length: to - from }, (_, at) => ({
    id: `e${from + at}`,
    text: text(from + at),
    score: ((from + at) * 7919) % 1000,
  }))
  await index.addMany(entries)
}

type Call = (at: number) => Promise<unknown>

function callsOf(index: Autocomplete, text: Texts, size: number): Record<string, Call> {
  const first = 1_000_000 + size
  const add = (at: number, score: number): Promise<unknown> => index.add(text(at), { id: `n${at}`, score })
  return {
    'add, comes first': (at) => add(first + at, 5000 + at),
    'add, in the middle': (at) => add(first + CALLS + at, at * 10),
    'add again, another score': (at) => add(first, 6000 + at),
    remove: (at) => index.remove(`e${size - CALLS + at}`),
  }
}

async function writtenBy(client: Redis, call: Call): Promise<{ mean: number; max: number }> {
  const sizeOf = async (): Promise<number> =>
    Number(/aof_current_size:(\d+)/.exec(await client.info('persistence'))?.[1])
  const began = await sizeOf()
  let [before, max] = [began, 0]
  for (let at = 0; at < CALLS; at++) {
    await call(at)
    const after = await sizeOf()
    max = Math.max(max, after - before)
    before = after
  }
  return { mean: (before - began) / CALLS, max }
}
