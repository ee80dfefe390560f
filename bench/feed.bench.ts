// Question: what does a feed cost beside the algorithms it replaces and the plain commands below it?
// Expectation: with 3,000 producers ten times the throughput of WATCH and retries, and no straggler;
// coalesced appends beat raw XADD, one at a time costs a third more; nothing grows with the feed.

import { Redis } from 'ioredis'
import { drawCharts } from './feed/charts.ts'
import { compareAppends } from './feed/floors.ts'
import { measureGrowth, measureMemory } from './feed/growth.ts'
import { compareObservers } from './feed/observers.ts'
import { openLibrary } from './feed/perilune-poster.ts'
import { compareLengths, compareLengthsOnCluster } from './feed/script-length.ts'
import { comparePosts, tellStory } from './feed/story.ts'
import { feedOf } from './feed-layout/shipped.ts'
import type { Bench } from './harness/bench.ts'

export { drawCharts as charts }

export async function run(bench: Bench): Promise<void> {
  const client = new Redis(bench.port)
  const library = await openLibrary(client)
  try {
    await tellStory(bench, client)
    await comparePosts(bench, client)
    await compareLengths(bench)
    await compareLengthsOnCluster(bench)
    const feed = await feedOf(library)
    await client.flushall()
    await compareAppends(bench, library)
    await measureMemory(bench, client, {
      'Perilune, with ttl': feed,
      'Perilune, without': await feedOf(library, { lives: false }),
    })
    await measureGrowth(bench, client, feed)
    await compareObservers(bench, client, library)
  } finally {
    await library.close()
    client.disconnect()
  }
}
