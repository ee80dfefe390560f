// The layouts of the main keys that this version reads; a test compares them with the scripts.

export interface MainKey {
  readonly part: string
  /** Where the layout is: a field of the hash, the first word of the text, or the first byte of the value. */
  readonly place: 'field' | 'word' | 'byte'
  readonly layouts: readonly string[]
}

export const MAIN_KEYS: Readonly<Record<string, readonly MainKey[]>> = {
  autocomplete: [{ part: 'meta', place: 'field', layouts: ['2'] }],
  cache: [
    { part: 'value', place: 'byte', layouts: ['1'] },
    { part: 'load', place: 'field', layouts: ['1'] },
  ],
  catalog: [{ part: 'meta', place: 'field', layouts: ['1'] }],
  collection: [{ part: 'meta', place: 'field', layouts: ['1'] }],
  counters: [
    { part: 'meta', place: 'field', layouts: ['1'] },
    { part: 'board', place: 'field', layouts: ['1'] },
  ],
  feed: [{ part: 'meta', place: 'field', layouts: ['1', '2'] }],
  lock: [
    { part: 'state', place: 'word', layouts: ['1'] },
    { part: 'fenced', place: 'field', layouts: ['1'] },
  ],
  once: [{ part: 'state', place: 'field', layouts: ['1'] }],
  queue: [{ part: 'meta', place: 'field', layouts: ['1', '2'] }],
  'rate-limit': [{ part: 'state', place: 'field', layouts: ['1'] }],
  semaphore: [{ part: 'state', place: 'word', layouts: ['1'] }],
}

/** The unit of a name with partitions says only how many there are. */
export const OF_PARTITIONS: RegExp = /^in \d+ partitions$/

/** Structures whose keys all expire by themselves, apart from these parts. */
export const EXPIRING: ReadonlyMap<string, readonly string[]> = new Map([
  ['cache', []],
  ['lock', ['fenced']],
  ['once', []],
  ['rate-limit', []],
  ['semaphore', []],
])
