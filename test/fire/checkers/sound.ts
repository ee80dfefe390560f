// A history of each structure in which nothing is wrong.

import type { Call, Sight } from '../history.ts'
import { call, held, sight } from './planting.ts'

export interface Sound {
  readonly calls: readonly Call[]
  readonly sights: readonly Sight[]
}

export const SOUND: Readonly<Record<string, Sound>> = {
  lock: {
    calls: [
      call('acquire', 'a', 0, { got: { token: 1 } }),
      call('write', 'a', 2, { given: { token: 1 }, got: { stored: true } }),
      call('acquire', 'a', 20, { got: { token: 2 } }),
      call('write', 'a', 22, { given: { token: 2 }, got: { stored: true } }),
    ],
    sights: [held('a', 1, 3, 10), held('a', 2, 23, 30, 1)],
  },
  'shared-lock': {
    calls: [
      call('acquire', 'reader', 0, { got: { token: 1 } }),
      call('acquire', 'reader', 2, { got: { token: 2 } }),
      call('acquire', 'writer', 20, { got: { token: 3 } }),
    ],
    sights: [held('reader', 1, 1, 10), held('reader', 2, 3, 18, 1), held('writer', 3, 21, 30)],
  },
  election: {
    calls: [call('write', 'office', 2, { given: { token: 1 }, got: { stored: true } })],
    sights: [
      sight('elected', 'office', { token: 1 }, 1),
      held('office', 1, 2, 10),
      sight('elected', 'office', { token: 2 }, 12, 1),
      held('office', 2, 12, 20, 1),
    ],
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
  'queue-options': {
    calls: [
      call('enqueue', 'j', 0, { given: { group: 'single', priority: 0, delayMs: 0 } }),
      call('enqueue', 'k', 2, { given: { group: 'single', priority: 0, delayMs: 0 } }),
      call('enqueue', 'late', 4, { given: { group: null, priority: 0, delayMs: 20 } }),
      call('claim', '', 6, { got: { jobs: [{ id: 'j', token: 1, attempt: 1 }] } }),
      call('ack', 'j', 12, { given: { token: 1 } }),
      call('enqueue again', 'j', 14, { got: { duplicate: true } }),
      call('claim', '', 16, { got: { jobs: [{ id: 'k', token: 2, attempt: 1 }] } }),
      call('ack', 'k', 22, { given: { token: 2 } }),
      call('claim', '', 30, { got: { jobs: [{ id: 'late', token: 3, attempt: 1 }] } }),
      call('ack', 'late', 42, { given: { token: 3 } }),
    ],
    sights: [
      held('j', 1, 7, 11),
      held('k', 2, 17, 21),
      held('late', 3, 31, 41),
      sight('left', '', { drained: true, dead: 0 }),
    ],
  },
  feed: {
    calls: [call('append', 'm', 0), call('append', 'n', 5)],
    sights: [
      sight('met', 'm', { id: 'm', lostBefore: null, partition: 0 }),
      sight('met', 'n', { id: 'n', lostBefore: null, partition: 0 }),
      sight('there', 'm', { id: 'm', partition: 0 }),
      sight('there', 'n', { id: 'n', partition: 0 }),
      sight('read all', ''),
    ],
  },
  'feed-options': {
    calls: [
      call('append', 'm', 0, { given: { delayMs: 0, livesMs: null }, got: { id: 'm' } }),
      call('append again', 'm', 2, { got: { id: 'm' } }),
      call('append', 'short', 4, { given: { delayMs: 0, livesMs: 20 }, got: { id: 'short' } }),
      call('append', 'late', 6, { given: { delayMs: 30, livesMs: null }, got: { id: 'late' } }),
      call('append', 'n', 8, { given: { delayMs: 0, livesMs: null }, got: { id: 'n' } }),
      call('page', '', 10, { got: { keys: ['m', 'short', 'n'] } }),
      call('page', '', 40, { got: { keys: ['late'] } }),
    ],
    sights: [
      sight('met', 'm', { id: 'm', lostBefore: null }, 3),
      sight('met', 'short', { id: 'short', lostBefore: null }, 6),
      sight('met', 'n', { id: 'n', lostBefore: null }, 10),
      sight('met', 'late', { id: 'late', lostBefore: null }, 38),
      sight('there', 'm', { id: 'm' }),
      sight('there', 'n', { id: 'n' }),
      sight('there', 'late', { id: 'late' }),
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
