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

describe('reading', () => {
  test('continues where the page before ended', async () => {
    const feed = api.newFeed()
    await api.append(feed, 1, 2, 3)
    const first = await api.call('GET', `${feed}/messages?limit=2`)
    const second = await api.call('GET', `${feed}/messages?after=${first.json.next}`)

    expect([bodiesOf(first), first.json.more]).toEqual([[1, 2], true])
    expect([bodiesOf(second), second.json.more, second.json.gap, second.json.reset]).toEqual([
      [3],
      false,
      false,
      false,
    ])
  })

  test('of a feed that does not exist gives an empty page', async () => {
    const { status, json } = await api.call('GET', `${api.newFeed()}/messages`)
    expect([status, json.messages]).toEqual([200, []])
  })

  test('waits for a message', async () => {
    const feed = api.newFeed()
    await api.append(feed, 'old')
    const { json } = await api.call('GET', `${feed}/messages`)
    const waiting = api.call('GET', `${feed}/messages?after=${json.next}&wait=25s`)
    await api.whenWaiting(feed)
    await api.append(feed, 'new')
    expect(bodiesOf(await waiting)).toEqual(['new'])
  })

  test('waits from the end of the feed with after=end', async () => {
    const feed = api.newFeed()
    await api.append(feed, 'old')
    const waiting = api.call('GET', `${feed}/messages?after=end&wait=25s`)
    await api.whenWaiting(feed)
    await api.append(feed, 'new')
    expect(bodiesOf(await waiting)).toEqual(['new'])
  })

  test('gives an empty page and the same position if nothing arrives', async () => {
    const feed = api.newFeed()
    const [last] = await api.append(feed, 'old')
    const { status, json } = await api.call('GET', `${feed}/messages?after=${last?.cursor}&wait=20ms`)
    expect([status, json.messages, json.next]).toEqual([200, [], last?.cursor])
  })

  test('hides messages of its own origin if echo is false', async () => {
    const feed = api.newFeed()
    await api.call('POST', `${feed}/messages?origin=ada`, { body: { body: 'mine' } })
    await api.call('POST', `${feed}/messages?origin=bob`, { body: { body: 'theirs' } })

    const ada = await api.call('GET', `${feed}/messages?origin=ada&echo=false`)
    expect(bodiesOf(ada)).toEqual(['theirs'])
    expect(bodiesOf(await api.call('GET', `${feed}/messages?origin=ada`))).toEqual(['mine', 'theirs'])
    expect(problemOf(await api.call('GET', `${feed}/messages?echo=false`))).toEqual([
      400,
      'invalid-argument',
      'origin',
    ])
  })

  test('shows claimed messages by default, and delayed ones on request', async () => {
    const feed = api.newFeed()
    await api.append(feed, 'claimed')
    const claim = await api.call('POST', `${feed}/claims`)
    await api.call('POST', `${feed}/messages`, { body: { messages: [{ body: 'delayed', delay: '1h' }] } })

    const all = await api.call('GET', `${feed}/messages?includeDelayed=true`)
    expect(bodiesOf(all)).toEqual(['claimed', 'delayed'])
    expect(all.json.messages[0]).toMatchObject({ claims: 1, claimToken: claim.json.token })
    expect(all.json.messages[1]).toMatchObject({ cursor: null, claimToken: null })
    expect(bodiesOf(await api.call('GET', `${feed}/messages?includeClaimed=false`))).toEqual([])
  })

  test('reports messages that retention removed before they were read', async () => {
    const feed = api.newFeed()
    const [first] = await api.append(feed, 1, 2)
    await api.call('POST', `${feed}/messages?retentionCount=1`, { body: { body: 3 } })
    const { json } = await api.call('GET', `${feed}/messages?after=${first?.cursor}`)
    expect([json.gap, json.reset, json.messages.length]).toEqual([true, false, 1])
  })

  test('reports that the cursor is from an earlier life of the feed', async () => {
    const feed = api.newFeed()
    const [first] = await api.append(feed, 'before')
    await api.call('DELETE', feed)
    await api.append(feed, 'after')
    const { json } = await api.call('GET', `${feed}/messages?after=${first?.cursor}`)
    expect([json.reset, json.messages.length]).toEqual([true, 1])
  })

  test('rejects invalid arguments by their names', async () => {
    const wrong = [
      ['after', 'nonsense'],
      ['after', '1-2-3'],
      ['limit', '0'],
      ['limit', '1001'],
      ['limit', '1e2'],
      ['limit', '-1'],
      ['wait', '25'],
      ['wait', '2h'],
      ['echo', '1'],
      ['includeClaimed', 'yes'],
      ['includeDelayed', 'TRUE'],
      ['cursor', '1-1'],
      ['__proto__', '1'],
    ] as const
    for (const [name, value] of wrong) {
      const answer = await api.call('GET', `${api.newFeed()}/messages?${name}=${value}`)
      expect(problemOf(answer), `${name}=${value}`).toEqual([400, 'invalid-argument', name])
    }
  })
})

describe('a single message', () => {
  test('is found by its id, and removed once', async () => {
    const feed = api.newFeed()
    const [message] = await api.append(feed, 'a', 'b')
    const path = `${feed}/messages/${message?.id}`

    const found = await api.call('GET', path)
    expect([found.status, found.json.body, found.json.cursor]).toEqual([200, 'a', message?.cursor])
    const removed = await api.call('DELETE', path)
    const again = await api.call('DELETE', path)
    expect([removed.status, again.status, (await api.call('GET', path)).status]).toEqual([204, 404, 404])
    expect(bodiesOf(await api.call('GET', `${feed}/messages`))).toEqual(['b'])
  })

  test('that a claim holds is only removed with force', async () => {
    const feed = api.newFeed()
    const [message] = await api.append(feed, 'a')
    await api.call('POST', `${feed}/claims`)
    const path = `${feed}/messages/${message?.id}`

    const refused = await api.call('DELETE', path)
    expect([refused.status, refused.json.code, refused.json.reason]).toEqual([409, 'refused', 'held'])
    expect((await api.call('DELETE', `${path}?evenClaimed=true`)).status).toBe(204)
  })

  test('with an invalid id is not found', async () => {
    for (const id of ['0', 'x', '-1', '99999999999999999999', '%20', "1'"]) {
      const path = `${api.newFeed()}/messages/${id}`
      expect([(await api.call('GET', path)).status, (await api.call('DELETE', path)).status], id).toEqual([
        404, 404,
      ])
    }
  })
})

describe('a feed', () => {
  test('is inspected exactly', async () => {
    const feed = api.newFeed()
    await api.append(feed, 'a', 'b')
    await api.call('POST', `${feed}/claims`, { body: { limit: 1 } })
    await api.call('POST', `${feed}/messages`, { body: { body: 'c', delay: '1h' } })
    await api.call('PUT', `${feed}/subscribers/ada`, { body: { protect: true } })

    const { json } = await api.call('GET', feed)

    expect(json).toMatchObject({
      name: decodeURIComponent(feed.split('/').at(-1) ?? ''),
      total: 3,
      free: 1,
      claimed: 1,
      delayed: 1,
      claims: 1,
      deadLetters: 0,
      subscribers: 1,
      furthestBehind: [{ name: 'ada', protected: true }],
      oldest: { body: 'a' },
      newest: { body: 'b' },
    })
  })

  test('that does not exist is not found, and clearing it succeeds', async () => {
    const feed = api.newFeed()
    const missing = await api.call('GET', feed)
    expect([missing.status, missing.json.code]).toEqual([404, 'not-found'])
    expect((await api.call('DELETE', feed)).status).toBe(204)
  })

  test('does not exist after it is cleared', async () => {
    const feed = api.newFeed()
    await api.append(feed, 'a')
    expect((await api.call('DELETE', feed)).status).toBe(204)
    expect((await api.call('GET', feed)).status).toBe(404)
  })

  test('may have any valid text as its name', async () => {
    const names = ['a/b', 'ä ö', '{x}:%', '日本語', '%2F', 'a?b#c', '..x', 'x'.repeat(504)]
    for (const name of names) {
      const feed = `/v1/feeds/${encodeURIComponent(name)}`
      await api.append(feed, name)
      expect(bodiesOf(await api.call('GET', `${feed}/messages`)), name).toEqual([name])
      expect((await api.call('GET', feed)).json.name).toBe(name)
    }
  })

  test('of an invalid name is rejected', async () => {
    const names = ['%00', 'a%0Ab', 'x'.repeat(600), 'é'.repeat(300).replaceAll('é', '%C3%A9'), '%7F']
    for (const name of names) {
      const answer = await api.call('GET', `/v1/feeds/${name}/messages`)
      expect(problemOf(answer), name.slice(0, 10)).toEqual([400, 'invalid-argument', 'name'])
    }
  })
})

describe('tenants', () => {
  const read = (project: string | null, feed: string) =>
    api.call('GET', `${feed}/messages`, { headers: { 'X-Project-ID': project } })
  const append = (project: string | null, feed: string, body: unknown) =>
    api.call('POST', `${feed}/messages`, { body: { body }, headers: { 'X-Project-ID': project } })

  test('are separate, whatever their names contain', async () => {
    const tenants = ['a', 'b', 'a/b', 'a%2Fb', 'default', 'p:a', 'x'.repeat(256), 'x'.repeat(255), 'a\tb']
    for (const tenant of tenants) await append(tenant, '/v1/feeds/shared', tenant)
    for (const tenant of tenants) expect(bodiesOf(await read(tenant, '/v1/feeds/shared'))).toEqual([tenant])
    // `a` with the feed `b/shared` is not `a/b` with the feed `shared`.
    expect(bodiesOf(await read('a', '/v1/feeds/b%2Fshared'))).toEqual([])
  })

  test('belong to the tenant default if none is named', async () => {
    const feed = api.newFeed()
    await append(null, feed, 1)
    expect(bodiesOf(await read('default', feed))).toEqual([1])
    expect(bodiesOf(await read('other', feed))).toEqual([])
  })

  test('are separate from queues of the same name', async () => {
    const feed = api.newFeed()
    const queue = feed.replace('/v1/feeds/', '/v2/queues/')
    const options = { project: 'both', headers: { 'Client-ID': '3381af92-2b9e-11e3-b191-71861300734c' } }
    await api.call('POST', `${queue}/messages`, { ...options, body: { messages: [{ body: 'queue' }] } })
    await api.call('POST', `${feed}/messages`, { project: 'both', body: { body: 'feed' } })

    expect(bodiesOf(await api.call('GET', `${queue}/messages?echo=true`, options))).toEqual(['queue'])
    expect(bodiesOf(await api.call('GET', `${feed}/messages`, { project: 'both' }))).toEqual(['feed'])
  })

  test('of an empty or too long name are rejected', async () => {
    for (const project of ['', '   ', 'x'.repeat(257)]) {
      expect(problemOf(await read(project, api.newFeed()))).toEqual([400, 'invalid-argument', 'X-Project-ID'])
    }
  })
})

test('an unknown path is 404, and an unknown method of a path is 405 with the allowed ones', async () => {
  const missing = await api.call('GET', '/v1/nothing')
  expect([missing.status, missing.json.code, missing.headers.get('content-type')]).toEqual([
    404,
    'not-found',
    expect.stringContaining('application/problem+json'),
  ])
  const wrong = [
    ['POST', '/v1/feeds/f', 'DELETE'],
    ['PUT', '/v1/feeds/f/messages', 'POST'],
    ['POST', '/v1/feeds/f/tail', 'GET'],
    ['GET', '/v1/feeds/f/claims', 'POST'],
    ['POST', '/v1/feeds/f/claims/1', 'PATCH'],
    ['GET', '/v1/feeds/f/subscribers/s', 'PUT'],
    ['DELETE', '/v1/openapi.json', 'GET'],
  ] as const
  for (const [method, path, allowed] of wrong) {
    const answer = await api.call(method, path)
    expect([answer.status, answer.json.code], `${method} ${path}`).toEqual([405, 'method-not-allowed'])
    expect(answer.headers.get('allow')).toContain(allowed)
  }
})
