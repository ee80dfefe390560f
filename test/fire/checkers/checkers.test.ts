// Each checker finds the one fault that is planted in a sound history, and nothing in the sound one.

import { describe, expect, test } from 'vitest'
import type { Call, History, Sight } from '../history.ts'
import type { Terms } from '../terms.ts'
import { CHECKERS } from './all.ts'
import { calls } from './calls.ts'
import { call, held, history, lossFrom, NO_TERMS, sight } from './planting.ts'

interface Sound {
  readonly calls: readonly Call[]
  readonly sights: readonly Sight[]
}

type Plant = Partial<{ calls: readonly Call[]; sights: readonly Sight[] }>

const SOUND: Readonly<Record<string, Sound>> = {
  lock: {
    calls: [
      call('acquire', 'a', 0, { got: { token: 1 } }),
      call('write', 'a', 2, { given: { token: 1 }, got: { stored: true } }),
      call('acquire', 'a', 20, { got: { token: 2 } }),
      call('write', 'a', 22, { given: { token: 2 }, got: { stored: true } }),
    ],
    sights: [held('a', 1, 3, 10), held('a', 2, 23, 30, 1)],
  },
  semaphore: {
    calls: [
      call('acquire', 'permits', 0, { got: { token: 1 } }),
      call('acquire', 'permits', 2, { got: { token: 2 } }),
    ],
    sights: [
      held('permits', 1, 2, 20),
      held('permits', 2, 4, 20, 1),
      sight('left', 'permits', { free: true }),
    ],
  },
  'rate-limit': {
    calls: Array.from({ length: 10 }, (_, at) => call('take', 'window', at * 10, { got: { allowed: true } })),
    sights: [held('places', 1, 0, 20), held('places', 2, 5, 20)],
  },
  once: {
    calls: [
      call('run', 'k', 0, { settledAt: 20_000, got: { result: 'r' } }),
      call('run', 'k', 30, { got: { result: 'r' } }),
    ],
    sights: [held('k', 1, 2, 18)],
  },
  queue: {
    calls: [
      call('enqueue', 'j', 0),
      call('claim', '', 2, { got: { jobs: [{ id: 'j', token: 1, attempt: 1 }] } }),
      call('ack', 'j', 12, { given: { token: 1 } }),
    ],
    sights: [held('j', 1, 3, 11), sight('left', '', { drained: true, dead: 0 })],
  },
  feed: {
    calls: [call('append', 'm', 0), call('append', 'n', 5)],
    sights: [
      sight('met', 'm', { lostBefore: null, partition: 0 }),
      sight('met', 'n', { lostBefore: null, partition: 0 }),
      sight('there', 'm', { partition: 0 }),
      sight('there', 'n', { partition: 0 }),
      sight('read all', ''),
    ],
  },
  cache: {
    calls: [
      call('get', 'x', 0, { got: { madeAt: 0 } }),
      call('invalidate', 'x', 10),
      call('get', 'x', 20, { settledAt: 40_000, got: { madeAt: 21_000 } }),
    ],
    sights: [held('x', 1, 0, 1), held('x', 2, 21, 39)],
  },
  collection: {
    calls: [
      call('replace', 'list', 0, { given: { version: 5 }, got: { status: 'replaced' } }),
      call('read', 'list', 10, { got: { items: [5, 5], version: 5 } }),
      call('add', '0-1', 20, { got: { took: true } }),
      call('list', '', 30, { got: { present: ['0-1'] } }),
    ],
    sights: [],
  },
  counters: {
    calls: [
      call('increment', '1', 0, { got: { value: 1 } }),
      call('increment', '1', 10, { got: { value: 2 } }),
      call('increment', '1', 20, { outcome: 'unknown' }),
    ],
    sights: [sight('row', '1', { votes: 2, value: 2 }), sight('left', '', { flushed: true })],
  },
  autocomplete: {
    calls: [call('remove', '0-1', 0), call('list', '', 10, { got: { present: [] } })],
    sights: [],
  },
}

/** What is planted, behind what is there, and what is to be said of it. */
const PLANTED: readonly [structure: string, fault: string, plant: Plant, said: string][] = [
  ['lock', 'a second holder', { sights: [held('a', 3, 25, 28)] }, '2 at once'],
  ['lock', 'a token again', { calls: [call('acquire', 'a', 40, { got: { token: 2 } })] }, 'given twice'],
  ['lock', 'a smaller token', { calls: [call('acquire', 'a', 40, { got: { token: 0 } })] }, 'after 2'],
  [
    'lock',
    'a write that was overtaken',
    { calls: [call('write', 'a', 40, { given: { token: 1 }, got: { stored: true } })] },
    'was taken after 2',
  ],
  ['semaphore', 'a third permit', { sights: [held('permits', 3, 10, 12)] }, '3 at once'],
  [
    'semaphore',
    'a smaller token',
    { calls: [call('acquire', 'permits', 40, { got: { token: 1 } })] },
    'given twice',
  ],
  ['semaphore', 'a leak', { sights: [sight('left', 'permits', { free: false })] }, 'that nobody has'],
  [
    'rate-limit',
    'one unit more',
    { calls: [call('take', 'window', 200, { got: { allowed: true } })] },
    '11 units',
  ],
  ['rate-limit', 'a third place', { sights: [held('places', 3, 10, 12)] }, '3 at once'],
  ['once', 'another result', { calls: [call('run', 'k', 40, { got: { result: 's' } })] }, 'several results'],
  ['once', 'two at work', { sights: [held('k', 2, 10, 15)] }, '2 at once'],
  ['once', 'work that is done again', { sights: [held('k', 2, 50, 60)] }, 'done again'],
  ['queue', 'a job that is lost', { calls: [call('enqueue', 'lost', 5)] }, 'never started'],
  [
    'queue',
    'a job that is stuck',
    {
      calls: [
        call('enqueue', 'stuck', 5),
        call('claim', '', 7, { got: { jobs: [{ id: 'stuck', token: 2, attempt: 1 }] } }),
      ],
    },
    'never ended',
  ],
  [
    'queue',
    'a job that is done again',
    { calls: [call('claim', '', 40, { got: { jobs: [{ id: 'j', token: 2, attempt: 2 }] } })] },
    'claimed again',
  ],
  ['queue', 'a job of two workers', { sights: [held('j', 2, 5, 8, 1)] }, '2 at once'],
  ['queue', 'a second ack', { calls: [call('ack', 'j', 40)] }, 'acked twice'],
  [
    'queue',
    'an attempt that counts for nothing',
    { calls: [call('claim', '', 4, { got: { jobs: [{ id: 'j', token: 2, attempt: 1 }] } })] },
    'attempts do not rise',
  ],
  [
    'queue',
    'a job whose enqueue failed',
    {
      calls: [
        call('enqueue', 'ghost', 5, { outcome: 'failed', error: 'store-full' }),
        call('claim', '', 7, { got: { jobs: [{ id: 'ghost', token: 2, attempt: 1 }] } }),
        call('ack', 'ghost', 9),
      ],
    },
    'though its enqueue failed',
  ],
  ['queue', 'what nobody gets', { sights: [sight('left', '', { drained: false, dead: 0 })] }, 'nobody gets'],
  ['feed', 'a lost message', { calls: [call('append', 'lost', 9)] }, 'is not there'],
  ['feed', 'a doubled message', { sights: [sight('there', 'm', { partition: 0 })] }, '2 times'],
  [
    'feed',
    'an order against time',
    {
      calls: [call('append', 'late', -10)],
      sights: [sight('there', 'late', { partition: 0 })],
    },
    'stands behind',
  ],
  [
    'feed',
    'a message that is met again',
    { sights: [sight('met', 'm', { lostBefore: null, partition: 0 })] },
    'out of order',
  ],
  [
    'feed',
    'a message that is passed over',
    {
      calls: [call('append', 'o', 9), call('append', 'p', 12)],
      sights: [
        sight('there', 'o', { partition: 0 }),
        sight('there', 'p', { partition: 0 }),
        sight('met', 'p', { lostBefore: null, partition: 0 }),
      ],
    },
    '1 were passed over',
  ],
  ['feed', 'an end', { sights: [sight('tail ended', '', { error: 'away' })] }, 'stopped following'],
  [
    'cache',
    'a stale value',
    { calls: [call('get', 'x', 50, { got: { madeAt: 9000 } })] },
    'before an invalidation',
  ],
  ['cache', 'a second load', { sights: [held('x', 3, 30, 35)] }, 'two loads'],
  [
    'collection',
    'a mixture',
    { calls: [call('read', 'list', 40, { got: { items: [5, 6], version: 6 } })] },
    'mixes versions',
  ],
  [
    'collection',
    'an older version',
    { calls: [call('read', 'list', 40, { got: { items: [4], version: 4 } })] },
    'version 4 after 5',
  ],
  ['collection', 'a lost item', { calls: [call('list', '', 40, { got: { present: [] } })] }, 'is not there'],
  [
    'counters',
    'a lost increment',
    { calls: [call('increment', '1', 30, { got: { value: 3 } })] },
    'of 3 acknowledged',
  ],
  ['counters', 'a doubled one', { sights: [sight('row', '1', { votes: 4, value: 4 })] }, '4 in the database'],
  ['counters', 'another value', { sights: [sight('row', '1', { votes: 2, value: 1 })] }, 'another value'],
  [
    'counters',
    'a value that falls',
    {
      calls: [call('increment', '1', 30, { got: { value: 2 } })],
      sights: [],
    },
    '2 after 3 increments',
  ],
  [
    'autocomplete',
    'an entry that is back',
    { calls: [call('list', '', 20, { got: { present: ['0-1'] } })] },
    'is there for',
  ],
]

function judge(structure: string, plant: Plant, terms: Terms = NO_TERMS): string[] {
  const sound = SOUND[structure]
  const planted: History = history(
    [...(sound?.calls ?? []), ...(plant.calls ?? [])],
    [...(sound?.sights ?? []), ...(plant.sights ?? [])],
  )
  return CHECKERS[structure]?.(planted, terms) ?? []
}

describe('a sound history', () => {
  test.each(Object.keys(SOUND))('of %s has nothing wrong', (structure) => {
    expect(judge(structure, {})).toEqual([])
  })

  test('is there for every checker', () => {
    const checkers = new Set(Object.entries(CHECKERS).map(([, checker]) => checker))
    expect(new Set(Object.keys(SOUND).map((structure) => CHECKERS[structure]))).toEqual(checkers)
  })
})

test.each(PLANTED)('%s: %s is found', (structure, _fault, plant, said) => {
  expect(judge(structure, plant).join('\n')).toContain(said)
})

describe('what the stated class allows', () => {
  test('is a second holder of a lock that was forgotten', () => {
    expect(judge('lock', { sights: [held('a', 3, 25, 28)] }, lossFrom(26, 40))).toEqual([])
  })

  test('is no token that does not rise', () => {
    const again = { calls: [call('acquire', 'a', 40, { got: { token: 2 } })] }
    expect(judge('lock', again, lossFrom(0, 100)).join()).toContain('given twice')
  })

  test('is a message that was acknowledged in its last moments, and no other one', () => {
    const lost = { calls: [call('append', 'lost', 9)] }
    expect(judge('feed', lost, lossFrom(9, 20))).toEqual([])
    expect(judge('feed', lost, lossFrom(15, 20)).join()).toContain('is not there')
  })

  test('is an increment that is lost, and none that counts twice', () => {
    const lost = { calls: [call('increment', '1', 30, { got: { value: 3 } })] }
    expect(judge('counters', lost, lossFrom(25, 40))).toEqual([])
    const doubled = { sights: [sight('row', '1', { votes: 4, value: 4 })] }
    expect(judge('counters', doubled, lossFrom(0, 100)).join()).toContain('4 in the database')
  })
})

describe('of every call', () => {
  const judgeCall = (more: Partial<Call>, terms = NO_TERMS): string =>
    calls(history([call('take', 'u', 0, more)]), terms).join()

  test('one that never settled is found', () => {
    expect(judgeCall({ outcome: 'hung', settledAt: Infinity })).toContain('hung')
  })

  test('one that settled far too late is found, unless its process stood still', () => {
    const late = { settledAt: 20_000_000 }
    expect(judgeCall(late)).toContain('too late')
    const stops = [{ process: 0, fromUs: 1_000_000, untilUs: 15_000_000 }]
    expect(judgeCall(late, { ...NO_TERMS, stops })).toBe('')
  })

  test('an error that nobody should meet is found, and one that nobody handled', () => {
    expect(judgeCall({ outcome: 'odd', error: 'TypeError' })).toContain('odd error')
    expect(calls({ calls: [], sights: [], crashes: ['TypeError'] }, NO_TERMS).join()).toContain(
      'nobody handled',
    )
  })
})
