// All tests in parallel keep two processors busy for a quarter of an hour, and a few of twelve thousand time out on a
// busy machine. So the files of the few that fail run once more, alone: a fault fails again. A test that passes then
// is named, so that the reader mends the test (docs/decisions/0080-what-fails-runs-again-alone.md).
import { relative } from 'node:path'
import { root } from './node-version.mjs'
import { runVitest } from './run-vitest.mjs'

/** More than these are no matter of load. */
const MOST = 3

/** Resolves to `{ passed, failed }`. */
export async function runTwice(words) {
  // Of files that are asked for all rows of their tables are played (docs/decisions/0102-some-rows-of-each-table.md).
  const first = await runVitest(words, words.length > 0 ? { PERILUNE_ROWS: 'all' } : {})
  const { failures } = first
  // Tests that were asked for by name ran next to few others, and their author waits for the result.
  const isFew = words.length === 0 && failures.length > 0 && failures.length <= MOST
  if (!isFew || failures.length !== first.failed) return first
  const files = [...new Set(failures.map(({ file }) => relative(root, file)))]
  console.log(`\n${failures.length} failed beside all others: once more, alone: ${files.join(' ')}\n`)
  // What was drawn at random is drawn again: other random values would pass.
  const seed = failures.find((failure) => failure.seed !== null)?.seed
  const second = await runVitest(
    [...files, '--no-file-parallelism'],
    seed === undefined ? {} : { PERILUNE_DRAWN: seed },
  )
  if (second.failed > 0) return first
  for (const { file, test } of failures)
    console.log(`UNSTEADY: failed beside all others, passed alone: ${relative(root, file)} > ${test}`)
  return { passed: first.passed + first.failed, failed: 0 }
}
