// Question: what does a decision of a rate limiter cost?
// Expectation: one script call of at most 2 µs more than the least that keeps the promises; with a hundred in
// flight half as many takes again as rate-limiter-flexible.

import type { Bench } from './harness/bench.ts'
import { compareTakes } from './limits/takes.ts'

export async function run(bench: Bench): Promise<void> {
  await compareTakes(bench)
}
