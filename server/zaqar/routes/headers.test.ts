import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { ALICE, startApp, type TestApp } from '../../testing/test-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp(inject('redisPort'))
})
afterAll(() => app[Symbol.asyncDispose]())

/** Status of a request whose header fields are sent byte for byte. */
function rawStatus(
  path: string,
  headers: Record<string, string>,
  method = 'GET',
  body = '',
): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(app.url + path, { method, headers }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0))
    })
    sent.on('error', reject).end(body)
  })
}

const statusWith = async (headers: Record<string, string | null>): Promise<number> =>
  (await app.call('GET', '/v2/queues', { headers })).status

describe('Client-ID', () => {
  test('is a UUID, with dashes or as 32 hexadecimal digits in any case', async () => {
    expect(await statusWith({ 'Client-ID': ALICE })).toBe(200)
    expect(await statusWith({ 'Client-ID': ALICE.toUpperCase() })).toBe(200)
    expect(await statusWith({ 'Client-ID': ALICE.replaceAll('-', '') })).toBe(200)
  })

  test('that is missing or not a UUID is rejected with 400, also for a ping', async () => {
    const bad = [null, '', 'me', `${ALICE}0`, ALICE.replace('-', ''), ALICE.replace('3', 'g')]
    for (const id of bad) expect(await statusWith({ 'Client-ID': id }), String(id)).toBe(400)
    expect((await app.call('GET', '/v2/ping', { headers: { 'Client-ID': null } })).status).toBe(400)
  })

  test('with and without dashes is the same client', async () => {
    await app.call('POST', '/v2/queues/one-client/messages', { body: { messages: [{ body: 1 }] } })

    const path = '/v2/queues/one-client/messages'
    const plain = await app.call('GET', path, { client: ALICE.replaceAll('-', '').toUpperCase() })

    expect(plain.json.messages).toEqual([])
  })
})

describe('X-Project-ID', () => {
  test('of any 1 to 256 characters is accepted', async () => {
    for (const project of ['p', 'a/b', '{x}:%', 'é', 'x'.repeat(256), 'é'.repeat(256)]) {
      expect(await statusWith({ 'X-Project-ID': project }), project).toBe(200)
    }
  })

  test('that is missing, empty or longer is rejected with 400', async () => {
    for (const project of [null, '', '   ', 'x'.repeat(257)]) {
      expect(await statusWith({ 'X-Project-ID': project }), String(project)).toBe(400)
    }
  })

  test('of 256 characters beyond ASCII works with the longest queue name', async () => {
    const options = { project: 'ü'.repeat(256) }
    const queue = `/v2/queues/${'q'.repeat(64)}`
    const posted = await app.call('POST', `${queue}/messages`, {
      ...options,
      body: { messages: [{ body: 1 }] },
    })
    const listed = await app.call('GET', '/v2/queues', options)

    expect(posted.status).toBe(201)
    expect(listed.json.queues).toHaveLength(1)
  })

  test('with a tab inside is a project like any other', async () => {
    const headers = { 'Client-ID': ALICE, 'X-Project-ID': 'a\tb' }
    expect(await rawStatus('/v2/queues', headers)).toBe(200)
  })
})

describe('Accept', () => {
  test('must admit application/json, else 406', async () => {
    const good = [
      '*/*',
      'application/json',
      'application/*;q=0.5',
      'text/html, application/json; charset=utf-8',
    ]
    const bad = ['text/html', 'application/xml', 'application/json;q=0', 'image/*;q=0.8, text/plain']
    for (const accept of good) expect(await statusWith({ Accept: accept }), accept).toBe(200)
    for (const accept of bad) expect(await statusWith({ Accept: accept }), accept).toBe(406)
  })

  test('may be missing', async () => {
    expect(await rawStatus('/v2/queues', { 'Client-ID': ALICE, 'X-Project-ID': 'p' })).toBe(200)
  })
})

describe('Content-Type', () => {
  test('application/x-www-form-urlencoded is rejected with 400', async () => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8' }
    const answer = await app.call('POST', '/v2/queues/q/messages', {
      body: '{"messages":[{"body":1}]}',
      headers,
    })
    expect(answer.status).toBe(400)
  })

  test('of a request without a body is ignored', async () => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
    expect((await app.call('PUT', '/v2/queues/bodyless', { headers })).status).toBe(201)
    expect((await app.call('GET', '/v2/queues/bodyless', { headers })).status).toBe(200)
  })

  test('may be any other, or none, because a body is always JSON', async () => {
    const headers = { 'Client-ID': ALICE, 'X-Project-ID': 'types' }
    const body = '{"messages":[{"body":1}]}'
    expect(
      await rawStatus('/v2/queues/q/messages', { ...headers, 'Content-Type': 'text/plain' }, 'POST', body),
    ).toBe(201)
    expect(await rawStatus('/v2/queues/q/messages', headers, 'POST', body)).toBe(201)
  })
})

describe('an error', () => {
  test('is JSON with title and description, and reveals no internals', async () => {
    const answer = await app.call('GET', '/v2/queues?limit=0')

    expect(answer.status).toBe(400)
    expect(answer.headers.get('content-type')).toContain('application/json')
    expect(answer.json).toEqual({
      title: 'Invalid API request',
      description: 'limit must be a whole number from 1 to 20.',
    })
  })

  test('is 404 for an unknown path, and 405 with the allowed methods if only the method is wrong', async () => {
    expect((await app.call('GET', '/v2/nothing')).status).toBe(404)
    expect((await app.call('GET', '/v2')).status).toBe(404)
    const wrong = [
      ['POST', '/', 'GET, HEAD'],
      ['DELETE', '/v2/', 'GET'],
      ['GET', '/v2/queues/q/purge', 'POST'],
      ['GET', '/v2/queues/q/share', 'POST'],
      ['PUT', '/v2/queues/q/subscriptions', 'POST'],
      ['POST', '/v2/queues/q/subscriptions/1', 'PATCH'],
      ['POST', '/v2/queues/q/subscriptions/1/confirm', 'PUT'],
      ['POST', '/v2/queues', 'GET'],
      ['POST', '/v2/queues/q', 'PATCH'],
      ['PUT', '/v2/queues/q/messages', 'POST'],
      ['PATCH', '/v2/queues/q/messages/1', 'DELETE'],
      ['GET', '/v2/queues/q/claims', 'POST'],
      ['POST', '/v2/ping', 'GET'],
    ] as const
    for (const [method, path, allowed] of wrong) {
      const answer = await app.call(method, path)
      expect(answer.status, `${method} ${path}`).toBe(405)
      expect(answer.headers.get('allow')).toContain(allowed)
    }
  })

  test('is 400 for a queue name of other characters, or longer than 64', async () => {
    const bad = ['a%20b', 'caf%C3%A9', 'a%2Fb', 'x'.repeat(65), 'x'.repeat(5000), '%00', 'a%ZZ', 'a:b']
    const calls = ['', '/messages', '/messages/1', '/stats', '/claims/1']
    for (const name of bad) {
      for (const rest of calls) {
        const answer = await app.call('GET', `/v2/queues/${name}${rest}`)
        expect(answer.status, name + rest).toBe(400)
        expect(answer.json.title).toBe('Invalid API request')
      }
    }
    expect((await app.call('GET', `/v2/queues/${'x'.repeat(64)}`)).status).toBe(200)
  })
})

test('unknown query parameters are ignored', async () => {
  expect((await app.call('GET', '/v2/queues?color=red&limit=5')).status).toBe(200)
  expect((await app.call('GET', '/v2/queues/q/messages?__proto__=1&constructor=2')).status).toBe(200)
})

test('a ping answers 204 with no body, to GET and to HEAD', async () => {
  for (const method of ['GET', 'HEAD']) {
    const answer = await app.call(method, '/v2/ping')
    expect([answer.status, answer.text]).toEqual([204, ''])
  }
})

test('a body of blanks is a body, and not JSON; without a body the defaults apply', async () => {
  const calls = [
    ['PUT', '/v2/queues/blank'],
    ['POST', '/v2/queues/blank/claims'],
    ['POST', '/v2/queues/blank/purge'],
    ['POST', '/v2/queues/blank/share'],
  ] as const
  for (const [method, path] of calls) {
    expect((await app.call(method, path, { body: ' \n ' })).status, path).toBe(400)
    expect((await app.call(method, path)).status, path).toBeLessThan(300)
  }
})

test('HEAD is answered with 405, except for a ping', async () => {
  const paths = ['/v2/', '/v2/queues', '/v2/queues/q', '/v2/queues/q/messages', '/v2/queues/q/stats']
  for (const path of paths) {
    const answer = await fetch(app.url + path, {
      method: 'HEAD',
      headers: { 'Client-ID': ALICE, 'X-Project-ID': 'p' },
    })
    expect([answer.status, answer.headers.get('allow')?.includes('HEAD')], path).toEqual([405, false])
  }
  expect((await app.call('HEAD', '/v2/ping')).status).toBe(204)
})
