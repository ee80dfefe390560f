// Faults, one each, that are planted into a sound history.

import type { Call, Sight } from '../history.ts'
import { call, held, lost, sight } from './planting.ts'

export type Plant = Partial<{ calls: readonly Call[]; sights: readonly Sight[] }>

/** The planted records, after the existing ones, and the expected report. */
export const PLANTED: readonly [structure: string, fault: string, plant: Plant, said: string][] = [
  ['lock', 'a second holder', { sights: [held('a', 3, 25, 28)] }, '2 at once'],
  ['lock', 'a token again', { calls: [call('acquire', 'a', 40, { got: { token: 2 } })] }, 'given twice'],
  ['lock', 'a smaller token', { calls: [call('acquire', 'a', 40, { got: { token: 0 } })] }, 'after 2'],
  [
    'lock',
    'a write that was overtaken',
    { calls: [call('write', 'a', 40, { given: { token: 1 }, got: { stored: true } })] },
    'was taken after 2',
  ],
  ['lock', 'a lease that ended', { sights: [lost('a', 3, 40, 45)] }, 'nothing was wrong'],
  ['semaphore', 'a lease that ended', { sights: [lost('permits', 9, 400, 410)] }, 'nothing was wrong'],
  ['shared-lock', 'a lease that ended', { sights: [lost('reader', 9, 400, 410)] }, 'nothing was wrong'],
  ['shared-lock', 'a second writer', { sights: [held('writer', 4, 25, 28, 1)] }, '2 at once'],
  [
    'shared-lock',
    'a reader beside a writer',
    { sights: [held('reader', 2, 25, 28, 1)] },
    'beside the writer',
  ],
  [
    'shared-lock',
    'a token again',
    { calls: [call('acquire', 'writer', 40, { got: { token: 3 } })] },
    'given twice',
  ],
  ['election', 'a second leader', { sights: [held('office', 3, 5, 8, 1)] }, '2 at once'],
  ['election', 'a smaller token', { sights: [held('office', 1, 30, 40)] }, 'the token 1 after 2'],
  [
    'election',
    'a write of an earlier leader',
    {
      calls: [
        call('write', 'office', 13, { given: { token: 2 }, got: { stored: true } }),
        call('write', 'office', 16, { given: { token: 1 }, got: { stored: true } }),
      ],
    },
    'was taken after 2',
  ],
  ['semaphore', 'a third permit', { sights: [held('permits', 3, 10, 12)] }, '3 at once'],
  [
    'semaphore',
    'a smaller token',
    { calls: [call('acquire', 'permits', 40, { got: { token: 1 } })] },
    'given twice',
  ],
  ['semaphore', 'a leak', { sights: [sight('left', 'permits', { free: false })] }, 'without a holder'],
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
  [
    'queue',
    'what no worker gets',
    { sights: [sight('left', '', { drained: false, dead: 0 })] },
    'no worker gets',
  ],
  [
    'queue-options',
    'a job before its delay is over',
    {
      calls: [
        call('enqueue', 'early', 50, { given: { group: null, priority: 0, delayMs: 100 } }),
        call('claim', '', 60, { got: { jobs: [{ id: 'early', token: 4, attempt: 1 }] } }),
        call('ack', 'early', 70),
      ],
    },
    'before its delay was over',
  ],
  [
    'queue-options',
    'a key that is forgotten',
    { calls: [call('enqueue again', 'k', 50, { got: { duplicate: false } })] },
    'a second time',
  ],
  ['queue-options', 'two jobs of a group at once', { sights: [held('k', 2, 8, 10, 1)] }, '2 at once'],
  [
    'queue-options',
    'a job before a greater priority',
    {
      calls: [
        call('enqueue', 'first', 1, { given: { group: 'single', priority: 2, delayMs: 0 } }),
        call('claim', '', 50, { got: { jobs: [{ id: 'first', token: 4, attempt: 1 }] } }),
        call('ack', 'first', 60),
      ],
    },
    'first: was given behind',
  ],
  [
    'queue-options',
    'a job before an older one',
    {
      calls: [
        call('enqueue', 'first', -2, { given: { group: 'single', priority: 0, delayMs: 0 } }),
        call('claim', '', 50, { got: { jobs: [{ id: 'first', token: 4, attempt: 1 }] } }),
        call('ack', 'first', 60),
      ],
    },
    'first: was given behind',
  ],
  ['feed', 'a lost message', { calls: [call('append', 'lost', 9)] }, 'is not there'],
  ['feed', 'a doubled message', { sights: [sight('there', 'm', { id: 'm', partition: 0 })] }, '2 times'],
  [
    'feed',
    'an order against time',
    {
      calls: [call('append', 'late', -10)],
      sights: [sight('there', 'late', { id: 'late', partition: 0 })],
    },
    'stands behind',
  ],
  [
    'feed',
    'a message that is met again',
    { sights: [sight('met', 'm', { id: 'm', lostBefore: null, partition: 0 })] },
    'out of order',
  ],
  [
    'feed',
    'a message that is passed over',
    {
      calls: [call('append', 'o', 9), call('append', 'p', 12)],
      sights: [
        sight('there', 'o', { id: 'o', partition: 0 }),
        sight('there', 'p', { id: 'p', partition: 0 }),
        sight('met', 'p', { id: 'p', lostBefore: null, partition: 0 }),
      ],
    },
    '1 were passed over',
  ],
  ['feed', 'an end', { sights: [sight('tail ended', '', { error: 'away' })] }, 'stopped following'],
  [
    'feed-options',
    'a lost message',
    { calls: [call('append', 'lost', 50, { given: { delayMs: 0, livesMs: null } })] },
    'is not there',
  ],
  [
    'feed-options',
    'a key that is forgotten',
    { calls: [call('append again', 'n', 50, { got: { id: 'o' } })] },
    'a second time under',
  ],
  ['feed-options', 'a doubled message', { sights: [sight('there', 'm', { id: 'x' })] }, 'is there 2 times'],
  [
    'feed-options',
    'a message before its delay is over',
    { sights: [sight('met', 'late', { id: 'other', lostBefore: null }, 20)] },
    'before its delay was over',
  ],
  [
    'feed-options',
    'a message behind its life',
    { calls: [call('page', '', 50, { got: { keys: ['short'] } })] },
    'behind its life',
  ],
  [
    'feed-options',
    'a message that is passed over',
    {
      calls: [call('append', 'o', 50), call('append', 'p', 55)],
      sights: [
        sight('there', 'o', { id: 'o' }),
        sight('there', 'p', { id: 'p' }),
        sight('met', 'p', { id: 'p', lostBefore: null }, 60),
      ],
    },
    '1 were passed over',
  ],
  [
    'feed-options',
    'more than is kept',
    { sights: Array.from({ length: 60 }, (_, at) => sight('there', `o${at}`, { id: `o${at}` })) },
    'are to be kept',
  ],
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
