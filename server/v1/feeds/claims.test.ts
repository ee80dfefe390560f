import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { bodiesOf, type FeedApi, startFeedApi } from '../../testing/feed-api.ts'
import type { HttpAnswer } from '../../testing/test-app.ts'

let api: FeedApi
beforeAll(async () => {
  api = await startFeedApi(inject('redisPort'))
})
afterAll(() => api[Symbol.asyncDispose]())

const placeOf = ({ headers }: HttpAnswer): string => headers.get('location') ?? ''
const codeOf = ({ status, json }: HttpAnswer): unknown[] => [status, json.code, json.reason]
const claim = (feed: string, body: object = {}, query = ''): Promise<HttpAnswer> =>
  api.call('POST', `${feed}/claims${query}`, { body })

describe('claiming', () => {
  test('gives the oldest free messages to one worker only', async () => {
    const feed = api.newFeed()
    await api.append(feed, 1, 2, 3)
    const first = await claim(feed, { limit: 2, lease: '1m', grace: '10s' })
    const second = await claim(feed)
    const third = await claim(feed)

    expect([first.status, bodiesOf(first), first.json.leaseMs]).toEqual([201, [1, 2], 60_000])
    expect(placeOf(first)).toBe(`${feed}/claims/${first.json.token}`)
    expect(bodiesOf(second)).toEqual([3])
    expect(second.json.token).toBeGreaterThan(first.json.token)
    expect([third.status, third.text]).toEqual([204, ''])
  })

  test('needs no body', async () => {
    const feed = api.newFeed()
    await api.append(feed, 1)
    expect((await api.call('POST', `${feed}/claims`)).status).toBe(201)
  })

  test('waits until a message becomes free', async () => {
    const feed = api.newFeed()
    const waiting = claim(feed, {}, '?wait=25s')
    await api.whenWaiting(feed)
    await api.append(feed, 'new')
    expect(bodiesOf(await waiting)).toEqual(['new'])
    expect((await claim(feed, {}, '?wait=20ms')).status).toBe(204)
  })

  test('keeps the body of a message unchanged', async () => {
    const feed = api.newFeed()
    await api.call('POST', `${feed}/messages`, { body: '{"body":[9007199254740993, 1e400]}' })
    const { text } = await claim(feed)
    expect(text).toContain('"body":[9007199254740993, 1e400]}')
  })

  test('whose client has left holds no messages', async () => {
    const feed = api.newFeed()
    const leaving = new AbortController()
    const left = fetch(`${api.url}${feed}/claims?wait=25s`, {
      method: 'POST',
      signal: leaving.signal,
      headers: { 'X-Project-ID': 'test', 'Content-Type': 'application/json' },
    })
    await api.whenWaiting(feed)
    leaving.abort()
    await expect(left).rejects.toThrow()
    await api.whenWaiting(feed, false)
    await api.append(feed, 'a')
    expect(bodiesOf(await claim(feed))).toEqual(['a'])
  })

  test('rejects invalid arguments by their names', async () => {
    const wrong: [body: unknown, argument: string, query?: string][] = [
      [{ limit: 0 }, 'limit'],
      [{ limit: 1001 }, 'limit'],
      [{ limit: '5' }, 'limit'],
      [{ lease: 30 }, 'lease'],
      [{ lease: '31d' }, 'lease'],
      [{ lease: '0ms' }, 'lease'],
      [{ grace: '5' }, 'grace'],
      [{ maxClaims: -1 }, 'maxClaims'],
      [{ deadLettersTtl: 'x' }, 'deadLettersTtl'],
      [{ ttl: 60 }, 'ttl'],
      [[], 'body'],
      ['{', 'body'],
      [{}, 'wait', '?wait=soon'],
      [{}, 'limit', '?limit=5'],
    ]
    for (const [body, argument, query = ''] of wrong) {
      const answer = await api.call('POST', `${api.newFeed()}/claims${query}`, { body })
      expect([answer.status, answer.json.argument], JSON.stringify(body)).toEqual([400, argument])
    }
  })

  test('accepts only a body of JSON, and no more than 64 KiB', async () => {
    const path = `${api.newFeed()}/claims`
    const headers = { 'Content-Type': 'text/plain' }
    const large = { lease: 'x'.repeat(65_536) }
    expect((await api.call('POST', path, { body: '{}', headers })).status).toBe(415)
    expect((await api.call('POST', path, { body: large })).status).toBe(413)
  })
})

describe('a claim', () => {
  test('is found while it lasts', async () => {
    const feed = api.newFeed()
    await api.append(feed, 'a')
    const made = await claim(feed)
    const found = await api.call('GET', placeOf(made))

    expect([found.status, found.json.token, bodiesOf(found)]).toEqual([200, made.json.token, ['a']])
    await api.call('DELETE', placeOf(made))
    expect(codeOf(await api.call('GET', placeOf(made)))).toEqual([404, 'not-found', undefined])
  })

  test('lasts longer when it is extended', async () => {
    const feed = api.newFeed()
    await api.append(feed, 'a')
    const made = await claim(feed, { lease: '1m' })
    const longer = await api.call('PATCH', placeOf(made), { body: { lease: '1h', grace: '5s' } })

    expect([longer.status, longer.json.leaseMs]).toEqual([200, 3_600_000])
    expect(longer.json.expiresAtMs).toBeGreaterThan(made.json.expiresAtMs)
    expect((await api.call('PATCH', placeOf(made))).json.leaseMs).toBe(30_000)
    const wrong = await api.call('PATCH', placeOf(made), { body: { lease: 5 } })
    expect([wrong.status, wrong.json.argument]).toEqual([400, 'lease'])
  })

  test('that is released gives its messages back', async () => {
    const feed = api.newFeed()
    await api.append(feed, 'a')
    const made = await claim(feed)
    expect((await api.call('DELETE', placeOf(made))).status).toBe(204)
    expect(bodiesOf(await claim(feed))).toEqual(['a'])
  })

  test('that has ended, or never existed, rejects extends, releases and acks', async () => {
    const feed = api.newFeed()
    const [message] = await api.append(feed, 'a')
    const place = placeOf(await claim(feed, { lease: '10ms' }))
    while ((await api.call('GET', place)).status === 200) await sleep(2)

    for (const path of [place, `${feed}/claims/1`]) {
      const answers = [
        await api.call('PATCH', path, { body: { lease: '1m' } }),
        await api.call('DELETE', path),
        await api.call('DELETE', `${path}/messages`),
        await api.call('DELETE', `${path}/messages/${message?.id}`),
      ]
      for (const answer of answers) expect(codeOf(answer)).toEqual([410, 'lease-lost', undefined])
    }
  })

  test('of another feed or tenant is not part of this one', async () => {
    const feed = api.newFeed()
    await api.append(feed, 'a')
    const place = placeOf(await claim(feed))
    const elsewhere = place.replace(feed, api.newFeed())
    expect((await api.call('DELETE', elsewhere)).status).toBe(410)
    expect((await api.call('DELETE', place, { project: 'stranger' })).status).toBe(410)
    expect((await api.call('GET', place)).status).toBe(200)
  })

  test('is not reached by an invalid token', async () => {
    for (const token of ['0', 'x', '-1', '1.5', '9'.repeat(17), '9999999999999999', '%F0%9F%98%80']) {
      const place = `${api.newFeed()}/claims/${token}`
      for (const [method, path] of [
        ['GET', place],
        ['PATCH', place],
        ['DELETE', place],
        ['DELETE', `${place}/messages`],
        ['DELETE', `${place}/messages/1`],
      ] as const) {
        const answer = await api.call(method, path)
        expect([answer.status, answer.json.argument], `${method} ${path}`).toEqual([400, 'token'])
      }
    }
  })
})

describe('acking', () => {
  test('removes all messages of the claim and ends it', async () => {
    const feed = api.newFeed()
    await api.append(feed, 'a', 'b', 'c')
    const place = placeOf(await claim(feed, { limit: 2 }))
    expect((await api.call('DELETE', `${place}/messages`)).status).toBe(204)
    expect(bodiesOf(await api.call('GET', `${feed}/messages`))).toEqual(['c'])
    expect((await api.call('GET', place)).status).toBe(404)
  })

  test('removes one message and leaves the others claimed', async () => {
    const feed = api.newFeed()
    const [a] = await api.append(feed, 'a', 'b')
    const place = placeOf(await claim(feed))
    expect((await api.call('DELETE', `${place}/messages/${a?.id}`)).status).toBe(204)
    expect(bodiesOf(await api.call('GET', place))).toEqual(['b'])
  })

  test('rejects a message that the claim does not hold, and says why', async () => {
    const feed = api.newFeed()
    const [a, b, c] = await api.append(feed, 'a', 'b', 'c')
    const place = placeOf(await claim(feed, { limit: 1 }))
    await claim(feed, { limit: 1 })
    const ack = async (id?: string) => codeOf(await api.call('DELETE', `${place}/messages/${id}`))

    expect(await ack(b?.id)).toEqual([409, 'refused', 'held'])
    expect(await ack(c?.id)).toEqual([409, 'refused', 'unclaimed'])
    expect(await ack('1')).toEqual([409, 'refused', 'absent'])
    expect(await ack('nonsense')).toEqual([409, 'refused', 'absent'])
    await api.call('DELETE', `${feed}/messages/${a?.id}?evenClaimed=true`)
    expect(await ack(a?.id)).toEqual([409, 'refused', 'absent'])
    const never = await api.call('DELETE', `${feed}/claims/5/messages/nonsense`)
    expect(codeOf(never)).toEqual([410, 'lease-lost', undefined])
  })
})

describe('dead letters', () => {
  const makeOne = async (feed: string, terms: object = {}) => {
    const [message] = await api.append(feed, 'poison')
    await api.call('DELETE', placeOf(await claim(feed, { maxClaims: 1, ...terms })))
    await claim(feed, { maxClaims: 1, ...terms })
    return message?.id
  }

  test('are read, found and removed like messages', async () => {
    const feed = api.newFeed()
    const id = await makeOne(feed)

    expect(bodiesOf(await api.call('GET', `${feed}/messages`))).toEqual([])
    const page = await api.call('GET', `${feed}/dead-letters/messages?limit=5`)
    expect([bodiesOf(page), page.json.messages[0].id]).toEqual([['poison'], id])
    const path = `${feed}/dead-letters/messages/${id}`
    expect((await api.call('GET', path)).json.body).toBe('poison')
    expect((await api.call('DELETE', path)).status).toBe(204)
    expect([(await api.call('GET', path)).status, (await api.call('DELETE', path)).status]).toEqual([
      404, 404,
    ])
  })

  test('live as long as the claim said', async () => {
    const feed = api.newFeed()
    await makeOne(feed, { deadLettersTtl: '1h' })
    const { json } = await api.call('GET', `${feed}/dead-letters/messages`)
    expect(json.messages[0].expiresAtMs).toBeGreaterThan(0)
  })

  test('wake up waiting readers', async () => {
    const feed = api.newFeed()
    const waiting = api.call('GET', `${feed}/dead-letters/messages?wait=25s`)
    await api.whenWaiting(feed)
    await makeOne(feed)
    expect(bodiesOf(await waiting)).toEqual(['poison'])
  })

  test('are not read with invalid arguments', async () => {
    const answer = await api.call('GET', `${api.newFeed()}/dead-letters/messages?after=x`)
    expect([answer.status, answer.json.argument]).toEqual([400, 'after'])
  })
})
