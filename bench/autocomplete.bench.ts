// Question: what do ten suggestions by prefix cost, among a hundred thousand members and a million?
// Expectation: at 10 clients 12 times as many as by sentinels under WATCH, and half as many again as by sentinels in
// Lua, although ours are ranked; one letter of a million takes less than 1 ms of server time.

import { compareSizes } from './autocomplete/sizes.ts'
import type { Bench } from './harness/bench.ts'

export async function run(bench: Bench): Promise<void> {
  await compareSizes(bench)
}
