// Which tests ought to notice a mutant, as filters of the runner: the nearest first, then all.

/** Tests of what surrounds the product, or in other languages; they would notice nothing else, and slowly. */
export const LEFT_OUT: readonly string[] = [
  'test/architecture.test.ts',
  'test/compiler/**',
  'test/conformance/python.test.ts',
  'test/docs/{pages,snippets}.test.ts',
  'test/faults/feed-proof.test.ts', // breaks the scripts itself, by their text
  'test/published-types.test.ts', // checks types, not behaviour
  'test/scripts/package.test.ts', // packs what was built
  'test/servers/**',
  'test/start/**',
  'test/zaqarclient/**',
  'tools/**',
]

/** Searches for unforeseen faults, the quickest first. */
export const NET: readonly (readonly string[])[] = [
  ['test/audit/', 'test/models/'],
  [
    'test/faults/first-calls',
    'test/faults/closing.test',
    'test/faults/call-bytes',
    'test/faults/bounded-work',
  ],
  ['test/fire/'],
  ['test/faults/lock-soak', 'test/faults/feed-soak', 'test/faults/lost-replies', 'test/faults/queue-cases'],
]

const VECTORS = 'test/conformance/vectors'

const NEAR: Readonly<Record<string, readonly string[]>> = {
  catalog: [VECTORS, 'server/zaqar/queues/', 'server/zaqar/routes/queues'],
  drivers: ['src/drivers/', 'test/drivers/'],
  facade: ['src/feed/', 'src/lock/', 'src/runtime/'],
  middleware: ['test/middleware/'],
  runtime: ['src/runtime/', 'src/feed/', 'src/lock/', 'src/semaphore/', 'test/drivers/'],
  scripts: ['src/scripts/', 'test/scripts/'],
  shared: [VECTORS, 'src/runtime/', 'test/models/'],
  sinks: ['test/sinks/', 'src/counters/', 'test/faults/counters'],
  stores: ['test/stores/', 'src/'],
  testing: [VECTORS, 'test/conformance/', 'test/drivers/'],
}

/** Each runs when the ones before it have noticed nothing; the last is all there is. */
export function suitesFor(stratum: string): readonly (readonly string[])[] {
  return [NEAR[stratum] ?? ofStructure(stratum), []]
}

function ofStructure(structure: string): string[] {
  return [VECTORS, `src/${structure}/`, `test/models/${structure}.test`, `test/faults/${structure}`]
}
