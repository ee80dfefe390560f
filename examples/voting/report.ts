// Plays a load, and says what came of it.

import { compare, rest } from './drift.ts'
import { load, type LoadTerms, type Outcome, percentile } from './load.ts'
import type { Poll } from './poll.ts'

const PATIENCE_MS = 30_000

/** Resolves to whether every vote that was answered is there, once, and all agree. */
export async function playLoad(poll: Poll, url: string, terms: LoadTerms): Promise<boolean> {
  console.log(`votes for ${terms.seconds} s, ${terms.inFlight} in flight …`)
  const items = poll.items.map(({ id }) => id)
  const outcome = await load(url, items, terms)
  tell(outcome)
  const isAtRest = await rest(poll, PATIENCE_MS)
  if (!isAtRest) console.log(`rows still wait after ${PATIENCE_MS / 1000} s`)
  const { rows, counted, shown, drift } = await compare(poll)
  const own = [...(await poll.database.rows(outcome.voters)).values()].reduce((sum, each) => sum + each, 0)
  console.log(`${outcome.counted} were answered, ${own} of them are rows`)
  console.log(`${rows} rows in SQL, ${counted} counted in SQL, ${shown} shown by Redis: drift ${drift}`)
  return isAtRest && drift === 0 && outcome.failed === 0 && own === outcome.counted
}

function tell({ counted, already, failed, seconds, ms }: Outcome): void {
  const rate = Math.round(counted / seconds)
  const [half, most] = [percentile(ms, 0.5), percentile(ms, 0.99)]
  console.log(`${counted} votes in ${seconds.toFixed(1)} s: ${rate} votes/s`)
  console.log(`an answer took ${half.toFixed(1)} ms (p50), ${most.toFixed(1)} ms (p99)`)
  console.log(`${already} came a second time and were not counted again; ${failed} failed`)
}
