import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { bodiesOf, type FeedApi, startFeedApi } from '../../testing/feed-api.ts'

let api: FeedApi
beforeAll(async () => {
  api = await startFeedApi(inject('redisPort'))
})
afterAll(() => api[Symbol.asyncDispose]())

const problemOf = ({ status, json }: { status: number; json: { code: string; argument?: string } }) => [
  status,
  json.code,
  json.argument,
]

describe('appending', () => {
  test('gives each message an id and a cursor, and 201', async () => {
    const answer = await api.call('POST', `${api.newFeed()}/messages`, {
      body: { messages: [{ body: 1 }, { body: 2, delay: '1h', ttl: '2h' }] },
    })

    expect(answer.status).toBe(201)
    const [first, second] = answer.json.messages
    expect(first).toEqual({
      id: expect.stringMatching(/^\d+$/),
      cursor: expect.any(String),
      duplicate: false,
    })
    expect(second).toMatchObject({ cursor: null, duplicate: false })
  })

  test('takes one message without a list', async () => {
    const feed = api.newFeed()
    const answer = await api.call('POST', `${feed}/messages`, { body: { body: { text: 'hello' } } })
    expect([answer.status, answer.json.messages.length]).toEqual([201, 1])
    expect(bodiesOf(await api.call('GET', `${feed}/messages`))).toEqual([{ text: 'hello' }])
  })

  test('keeps bodies unchanged', async () => {
    const feed = api.newFeed()
    const bodies = [
      '9007199254740993',
      '1e400',
      '{"a": [ ],\n\t"a":1}',
      '"\\ud800 \\u00e9 é"',
      'null',
      '-0.0',
    ]
    const list = bodies.map((body) => `{"body" : ${body} }`).join(' , ')
    await api.call('POST', `${feed}/messages`, { body: `{"messages":[${list}]}` })
    await api.call('POST', `${feed}/messages`, { body: ` {"ttl":"1h","body": 1.50}` })

    const { text } = await api.call('GET', `${feed}/messages`)
    for (const body of [...bodies, '1.50']) expect(text).toContain(`"body":${body}}`)
  })

  test('with a known key appends nothing, and answers 200 if all were known', async () => {
    const feed = api.newFeed()
    const post = (body: object, headers = {}) => api.call('POST', `${feed}/messages`, { body, headers })
    const first = await post({ body: 1 }, { 'Idempotency-Key': 'k' })
    const again = await post({ body: 1 }, { 'Idempotency-Key': 'k' })
    const inBody = await post({ messages: [{ body: 1, idempotencyKey: 'k' }] })
    const mixed = await post({ messages: [{ body: 1, idempotencyKey: 'k' }, { body: 2 }] })

    expect([first.status, again.status, inBody.status, mixed.status]).toEqual([201, 200, 200, 201])
    expect(again.json.messages[0]).toEqual({ id: first.json.messages[0].id, cursor: null, duplicate: true })
    expect(bodiesOf(await api.call('GET', `${feed}/messages`))).toEqual([1, 2])
  })

  test('forgets a key after idempotencyTtl', async () => {
    const feed = api.newFeed()
    const post = () =>
      api.call('POST', `${feed}/messages?idempotencyTtl=1ms`, {
        body: { body: 1 },
        headers: { 'Idempotency-Key': 'k' },
      })
    const first = await post()
    let again = await post()
    while (again.status === 200) again = await post()
    expect([first.status, again.status]).toEqual([201, 201])
  })

  test('rejects a key in the header that does not belong to exactly one message', async () => {
    const headers = { 'Idempotency-Key': 'k' }
    for (const body of [{ messages: [{ body: 1 }, { body: 2 }] }, { body: 1, idempotencyKey: 'other' }]) {
      const answer = await api.call('POST', `${api.newFeed()}/messages`, { body, headers })
      expect(problemOf(answer)).toEqual([400, 'invalid-argument', 'Idempotency-Key'])
    }
  })

  test('keeps no more messages than its limit', async () => {
    for (const keep of ['retentionCount=2', 'retentionBytes=2']) {
      const feed = api.newFeed()
      await api.append(feed, 1, 2, 3)
      await api.call('POST', `${feed}/messages?${keep}`, { body: { body: 4 } })
      expect(bodiesOf(await api.call('GET', `${feed}/messages`)), keep).toEqual([3, 4])
    }
  })

  test('drops messages that are older than retentionAge', async () => {
    const feed = api.newFeed()
    await api.append(feed, 'old')
    await sleep(5)
    await api.call('POST', `${feed}/messages?retentionAge=4ms`, { body: { body: 'new' } })
    expect(bodiesOf(await api.call('GET', `${feed}/messages`))).toEqual(['new'])
  })

  test('appends all messages of a request or none', async () => {
    const feed = api.newFeed()
    const answer = await api.call('POST', `${feed}/messages`, {
      body: { messages: [{ body: 1 }, { body: 2, delay: '400d' }] },
    })
    expect(problemOf(answer)).toEqual([400, 'invalid-argument', 'delay'])
    expect((await api.call('GET', feed)).status).toBe(404)
  })

  test('rejects invalid arguments by their names', async () => {
    const wrong: [body: unknown, argument: string, query?: string][] = [
      [{}, 'body'],
      [[], 'body'],
      [5, 'body'],
      ['{"body":', 'body'],
      [{ messages: [] }, 'messages'],
      [{ messages: {} }, 'messages'],
      [{ messages: [1] }, 'messages[0]'],
      [{ messages: [{ body: 1 }, {}] }, 'messages[1].body'],
      [{ messages: [{ body: 1, ttl: 60 }] }, 'messages[0].ttl'],
      [{ body: 1, colour: 'red' }, 'colour'],
      [{ body: 1, messages: [{ body: 1 }] }, 'body'],
      [{ body: 1, ttl: 60 }, 'ttl'],
      [{ body: 1, ttl: '60' }, 'ttl'],
      [{ body: 1, ttl: '0s' }, 'ttl'],
      [{ body: 1, delay: '-1s' }, 'delay'],
      [{ body: 1, idempotencyKey: '' }, 'idempotencyKey'],
      [{ body: 1, idempotencyKey: 'x'.repeat(513) }, 'idempotencyKey'],
      [{ messages: Array.from({ length: 1001 }, () => ({ body: 1 })) }, 'messages'],
      [{ body: 1 }, 'retentionCount', '?retentionCount=0'],
      [{ body: 1 }, 'retentionAge', '?retentionAge=5'],
      [{ body: 1 }, 'retentionBytes', '?retentionBytes=1.5'],
      [{ body: 1 }, 'idempotencyTtl', '?idempotencyTtl=60d'],
      [{ body: 1 }, 'origin', '?origin=a%20b'],
      [{ body: 1 }, 'retention', '?retention=5'],
      [{ body: 1 }, 'retentionCount', '?retentionCount=5&retentionCount=6'],
    ]
    for (const [body, argument, query = ''] of wrong) {
      const answer = await api.call('POST', `${api.newFeed()}/messages${query}`, { body })
      expect(problemOf(answer), JSON.stringify(body).slice(0, 80) + query).toEqual([
        400,
        'invalid-argument',
        argument,
      ])
    }
  })

  test('accepts only application/json, and no more than 4 MiB', async () => {
    const path = `${api.newFeed()}/messages`
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
    ]) {
      const answer = await api.call('POST', path, {
        body: '{"body":1}',
        headers: { 'Content-Type': type },
      })
      expect([answer.status, answer.json.code]).toEqual([415, 'unsupported-media-type'])
    }
    const fits = await api.call('POST', path, { body: { body: 'x'.repeat(4_194_304 - 11) } })
    const large = await api.call('POST', path, { body: { body: 'x'.repeat(4_194_304 - 10) } })
    expect([fits.status, large.status, large.json.code]).toEqual([201, 413, 'too-large'])
  })
})
