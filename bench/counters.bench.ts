// Question: how many votes a second can a database take that also counts them, and what does deferred counting cost?
// Expectation: an update of the row of a hot item waits for the commits of all others, so six times INSERT and UPDATE
// on PostgreSQL and four times on MariaDB; 2.5 and 2 times where votes are for a thousand items; and no vote ever
// missing or counted twice. Rolling up takes a tenth of that at most, flushing a quarter. A hundred increments in
// flight are twice as fast as INCR, for those of one tick are one call. SQLite has one writer and a commit costs all
// the same there: votes that are rows gain nothing but a smaller commit, only counts without rows do.

import { compareOn, reportSettings } from './counters/databases.ts'
import type { Bench } from './harness/bench.ts'

export async function run(bench: Bench): Promise<void> {
  reportSettings(bench)
  await compareOn(bench, 'PostgreSQL')
  await compareOn(bench, 'MariaDB')
  await compareOn(bench, 'SQLite')
}
