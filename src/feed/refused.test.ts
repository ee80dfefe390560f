import { type Driver, type Feed, InvalidArgumentError, type Perilune, perilune } from 'perilune'
import { describe, expect, test } from 'vitest'
import { setup } from '../../test/feed-fixture.ts'

describe('rejected arguments', () => {
  const refused: [string, string, (feed: Feed<unknown>, redis: Perilune) => unknown][] = [
    ['an empty name', 'name', (_, redis) => redis.feed('')],
    ['a name with a control character', 'name', (_, redis) => redis.feed('a\nb')],
    ['a name of half a surrogate pair', 'name', (_, redis) => redis.feed('\ud800')],
    ['a name over 512 bytes', 'name', (_, redis) => redis.feed('é'.repeat(257))],
    ['a name that is no text', 'name', (_, redis) => redis.feed(7 as never)],
    ['a namespace with a colon', 'namespace', () => perilune({} as Driver, { namespace: 'a:b' })],
    ['a duration without unit', 'ttl', (feed) => feed.append(1, { ttl: 500 as never })],
    ['a duration of another form', 'delay', (feed) => feed.append(1, { delay: '5sec' as never })],
    ['an unknown option', 'options.lease', (feed) => feed.append(1, { lease: '5s' } as never)],
    ['a body that JSON cannot hold', 'body', (feed) => feed.append(undefined)],
    ['a body that is too large', 'body', (feed) => feed.append('x'.repeat(4 * 1024 * 1024))],
    ['messages that are no list', 'messages', (feed) => feed.appendMany('abc' as never)],
    ['a message without body', 'message.body', (feed) => feed.appendMany([{}] as never)],
    ['a limit of nothing', 'limit', (feed) => feed.read({ limit: 0 })],
    ['a limit beyond a thousand', 'limit', (feed) => feed.claim({ limit: 1001 })],
    ['a limit with a fraction', 'limit', (feed) => feed.read({ limit: 1.5 })],
    ['a forged cursor', 'after', (feed) => feed.read({ after: '1-2-3' })],
    ['a cursor of another type', 'after', (feed) => feed.read({ after: 12 as never })],
    ['a lease of nothing', 'lease', (feed) => feed.claim({ lease: '0s' })],
    ['ids that are no list', 'ids', (feed) => feed.get('1' as never)],
    ['more than a thousand ids', 'ids', (feed) => feed.remove(Array.from({ length: 1001 }, String))],
    [
      'an idempotency key with a control character',
      'idempotencyKey',
      (feed) => feed.append(1, { idempotencyKey: '\u0000' }),
    ],
    ['an origin with spaces', 'origin', (_, redis) => redis.feed('a', { origin: 'a b' })],
    ['keeping nothing', 'retention.count', (_, redis) => redis.feed('a', { retention: 0 })],
    [
      'an unknown option in retention',
      'retention.max',
      (_, redis) => redis.feed('a', { retention: { max: 1 } as never }),
    ],
    [
      'a flag of remove as text',
      'evenClaimed',
      (feed) => feed.remove(['1'], { evenClaimed: 'false' as never }),
    ],
    ['a flag of read as text', 'echo', (feed) => feed.read({ echo: 'false' as never })],
    [
      'another flag of read as text',
      'includeClaimed',
      (feed) => feed.read({ includeClaimed: 'no' as never }),
    ],
    ['a flag of read as a number', 'includeDelayed', (feed) => feed.read({ includeDelayed: 0 as never })],
    ['a flag of a tail', 'echo', (feed) => feed.tail({ echo: 'false' as never }).next()],
    ['a flag of a subscriber', 'protect', (feed) => feed.subscriber('ada', { protect: 'false' as never })],
    [
      'a flag of commit',
      'rewind',
      (feed) => feed.subscriber('ada').commit('1-1', { rewind: 'false' as never }),
    ],
    [
      'an onUndecodable that is not a function',
      'onUndecodable',
      (feed) => feed.tail({ onUndecodable: 5 as never }).next(),
    ],
    ['a commit of null', 'cursor', (feed) => feed.subscriber('ada').commit(null)],
  ]

  test.each(refused)('%s is rejected by the name %s', async (_, argument, call) => {
    const { feed, redis, calls } = await setup()

    const error = await Promise.resolve()
      .then(() => call(feed, redis))
      .catch((reason: unknown) => reason)

    expect(error).toBeInstanceOf(InvalidArgumentError)
    expect(error).toMatchObject({ argument, code: 'invalid-argument' })
    expect(calls).toEqual([])
  })
})
