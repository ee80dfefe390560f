// Question: what does a cache cost on a hit, and how often does it load what many want at once?
// Expectation: a hit within a tenth of GET and JSON.parse; one load of a cold key however many processes want it, and
// one load a cycle of a hot one; when ten thousand values end at once, readers wait a third of what they wait for a
// naive cache.

import { compareCycles } from './cache/cycles.ts'
import { compareExpiry } from './cache/expiry.ts'
import { compareHits } from './cache/hits.ts'
import { tellMemory } from './cache/memory.ts'
import { reportSettings } from './cache/open.ts'
import { compareStampedes } from './cache/stampede.ts'
import type { Bench } from './harness/bench.ts'

export async function run(bench: Bench): Promise<void> {
  const able = await reportSettings(bench)
  await compareHits(bench)
  await compareStampedes(bench, able)
  await compareCycles(bench, able)
  await compareExpiry(bench, able)
  await tellMemory(bench)
}
