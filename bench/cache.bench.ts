// Question: what does a cache cost on a hit, and how often does it load what many want at once?
// Expectation: a hit within a tenth of GET and JSON.parse; one load of a cold key however many processes want it, and
// one load a cycle of a hot one; when ten thousand values end at once, readers wait a third of what they wait for a
// naive cache.

import { compareHits } from './cache/hits.ts'
import { reportSettings } from './cache/open.ts'
import type { Bench } from './harness/bench.ts'

export async function run(bench: Bench): Promise<void> {
  await reportSettings(bench)
  await compareHits(bench)
}
