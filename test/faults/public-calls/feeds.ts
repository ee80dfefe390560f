import type { Feed, PartitionedFeed, PartitionedSubscriber, Subscriber } from 'perilune'
import { type CallsOf, type Group, gives, goesOn, group } from './call.ts'

const WAIT = { wait: '100ms' } as const

const ofFeed: CallsOf<Feed<number>> = {
  append: (feed) => feed.append(1),
  appendMany: (feed) => feed.appendMany([{ body: 1 }, { body: 2 }]),
  read: (feed, ending) => feed.read({ ...WAIT, ...ending }),
  tail: goesOn((feed, ending) => feed.tail({ ...ending })),
  [Symbol.asyncIterator]: goesOn((feed) => feed[Symbol.asyncIterator]()),
  get: (feed) => feed.get(['1']),
  remove: (feed) => feed.remove(['1']),
  claim: (feed, ending) => feed.claim({ ...WAIT, ...ending }),
  pop: (feed, ending) => feed.pop({ ...WAIT, ...ending }),
  subscriber: gives((feed) => feed.subscriber('ada')),
  moveDeadLetters: (feed) => feed.moveDeadLetters(feed),
  inspect: (feed) => feed.inspect(),
  clear: (feed) => feed.clear(),
}

const ofPartitionedFeed: CallsOf<PartitionedFeed<number>> = {
  append: (feed) => feed.append(1),
  appendMany: (feed) => feed.appendMany([{ body: 1 }, { body: 2, key: 'k' }]),
  read: (feed, ending) => feed.read({ ...WAIT, ...ending }),
  tail: goesOn((feed, ending) => feed.tail({ ...ending })),
  [Symbol.asyncIterator]: goesOn((feed) => feed[Symbol.asyncIterator]()),
  get: (feed) => feed.get(['0.1']),
  remove: (feed) => feed.remove(['0.1', '1.1']),
  claim: (feed, ending) => feed.claim({ ...WAIT, ...ending }),
  pop: (feed, ending) => feed.pop({ ...WAIT, ...ending }),
  subscriber: gives((feed) => feed.subscriber('ada')),
  inspect: (feed) => feed.inspect(),
  clear: (feed) => feed.clear(),
}

const subscribers: readonly Group[] = [
  group<Subscriber<unknown>>('Subscriber', (redis) => redis.feed('a').subscriber('ada'), {
    cursor: (ada) => ada.cursor(),
    read: goesOn((ada, ending) => ada.read({ ...ending })),
    page: (ada, ending) => ada.page({ ...WAIT, ...ending }),
    commit: (ada) => ada.commit('1-1'),
    forget: (ada) => ada.forget(),
  }),
  group<PartitionedSubscriber<unknown>>(
    'PartitionedSubscriber',
    (redis) => redis.feed('a', { partitions: 2 }).subscriber('ada'),
    {
      cursor: (ada) => ada.cursor(),
      read: goesOn((ada, ending) => ada.read({ ...ending })),
      page: (ada, ending) => ada.page({ ...WAIT, ...ending }),
      commit: (ada) => ada.commit('p2.1-1.1-1'),
      forget: (ada) => ada.forget(),
    },
  ),
]

const settling: readonly Group[] = [
  group('ClaimsByToken', (redis) => redis.feed('a').byToken, {
    get: (settle) => settle.get({ token: 1 }),
    ack: (settle) => settle.ack([{ token: 1 }, { token: 2 }]),
    release: (settle) => settle.release([{ token: 1 }, { token: 2 }]),
    extend: (settle) => settle.extend([{ token: 1 }, { token: 2 }], '1m'),
  }),
  group(
    'ClaimsByToken',
    (redis) => redis.feed('a', { partitions: 2 }).byToken,
    {
      get: (settle) => settle.get({ partition: 1, token: 1 }),
      ack: (settle) =>
        settle.ack([
          { partition: 0, token: 1 },
          { partition: 1, token: 2 },
        ]),
      release: (settle) =>
        settle.release([
          { partition: 0, token: 1 },
          { partition: 1, token: 2 },
        ]),
      extend: (settle) =>
        settle.extend(
          [
            { partition: 0, token: 1 },
            { partition: 1, token: 2 },
          ],
          '1m',
        ),
    },
    'in partitions',
  ),
]

export const feeds: readonly Group[] = [
  group('Feed', (redis) => redis.feed<number>('a'), ofFeed),
  group('Feed', (redis) => redis.feed<number>('a', { maxClaims: 1 }).deadLetters, ofFeed, 'dead letters'),
  group('PartitionedFeed', (redis) => redis.feed<number>('a', { partitions: 2 }), ofPartitionedFeed),
  group(
    'PartitionedFeed',
    (redis) => redis.feed<number>('a', { partitions: 2, maxClaims: 1 }).deadLetters,
    ofPartitionedFeed,
    'dead letters',
  ),
  ...subscribers,
  ...settling,
]
