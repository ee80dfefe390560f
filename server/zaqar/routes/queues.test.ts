import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type HttpAnswer, startApp, type TestApp } from '../../testing/test-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp(inject('redisPort'))
})
afterAll(() => app[Symbol.asyncDispose]())

const PATCH_TYPE = 'application/openstack-messaging-v2.0-json-patch'
const DEFAULTS = {
  _max_messages_post_size: 262_144,
  _default_message_ttl: 3600,
  _default_message_delay: 0,
  _dead_letter_queue: null,
  _dead_letter_queue_messages_ttl: null,
  _max_claim_count: null,
}

const patch = (queue: string, body: unknown, type = PATCH_TYPE): Promise<HttpAnswer> =>
  app.call('PATCH', `/v2/queues/${queue}`, { body, headers: { 'Content-Type': type } })

let queues = 0
async function newQueue(metadata: unknown = {}): Promise<string> {
  const queue = `q${(queues += 1)}`
  expect((await app.call('PUT', `/v2/queues/${queue}`, { body: metadata })).status).toBe(201)
  return queue
}

describe('putting a queue', () => {
  test('creates it: 201 with its URL', async () => {
    const answer = await app.call('PUT', '/v2/queues/fresh', { body: { a: 1 } })

    expect([answer.status, answer.text]).toEqual([201, ''])
    expect(answer.headers.get('location')).toBe('/v2/queues/fresh')
  })

  test('that exists answers 204 and does not change its metadata', async () => {
    const queue = await newQueue({ color: 'red' })

    const again = await app.call('PUT', `/v2/queues/${queue}`, { body: { color: 'blue' } })

    expect(again.status).toBe(204)
    expect((await app.call('GET', `/v2/queues/${queue}`)).json.color).toBe('red')
  })

  test('needs no body', async () => {
    expect((await app.call('PUT', '/v2/queues/bare')).status).toBe(201)
  })

  test('with anything but a JSON object is rejected with 400 and creates nothing', async () => {
    for (const body of [
      '[]',
      '1',
      'null',
      '"a"',
      '{',
      '{"a":}',
      Buffer.from('{"a":"\xff"}', 'latin1'),
      '\ufeff{}',
    ]) {
      expect((await app.call('PUT', '/v2/queues/refused', { body })).status, String(body)).toBe(400)
    }
    expect((await app.call('PUT', '/v2/queues/refused')).status).toBe(201)
  })

  test('accepts metadata of 64 KiB and no more', async () => {
    const padded = (size: number): string => `{"a":"${'x'.repeat(size - 8)}"}`
    expect((await app.call('PUT', '/v2/queues/large', { body: padded(65_536) })).status).toBe(201)
    expect((await app.call('PUT', '/v2/queues/too-large', { body: padded(65_537) })).status).toBe(400)
  })

  test('with metadata nested too deep is rejected with 400, however deep it is', async () => {
    for (const depth of [101, 10_000, 30_000]) {
      const body = `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`
      expect((await app.call('PUT', '/v2/queues/deep', { body })).status).toBe(400)
    }
  })

  test('with a reserved key of the wrong type or out of its range is rejected with 400', async () => {
    const bad = [
      ...[0, 262_145, '5', 1.5, null, true].map((value) => ({ _max_messages_post_size: value })),
      ...[59, 1_209_601, '60', null, -60].map((value) => ({ _default_message_ttl: value })),
      ...[-1, 901, '0', null].map((value) => ({ _default_message_delay: value })),
      ...['', 'a b', 'x'.repeat(65), 5].map((value) => ({ _dead_letter_queue: value })),
      ...[59, 1_209_601, 'x'].map((value) => ({ _dead_letter_queue_messages_ttl: value })),
      ...[-1, 1.5, '3', true].map((value) => ({ _max_claim_count: value })),
      ...[null, [], { minimum_delay: 0 }, { minimum_delay: 31 }, { x: 1 }].map((value) => ({
        _retry_policy: value,
      })),
      { _enable_encrypt_messages: true },
    ]
    for (const body of bad) {
      expect((await app.call('PUT', '/v2/queues/reserved', { body })).status, JSON.stringify(body)).toBe(400)
    }
  })

  test('shows a retry policy only if one was set', async () => {
    const _retry_policy = { minimum_delay: 1, retry_backoff_function: 'geometric' }
    const queue = await newQueue({ _retry_policy })
    expect((await app.call('GET', `/v2/queues/${queue}`)).json).toEqual({ ...DEFAULTS, _retry_policy })
  })

  test('with reserved keys at the ends of their ranges is accepted', async () => {
    await newQueue({ _max_messages_post_size: 1, _default_message_ttl: 60, _default_message_delay: 900 })
    await newQueue({
      _max_messages_post_size: 262_144,
      _default_message_ttl: 1_209_600,
      _default_message_delay: 0,
    })
    await newQueue({ _dead_letter_queue: 'd.e-f', _dead_letter_queue_messages_ttl: 60, _max_claim_count: 0 })
    await newQueue(DEFAULTS)
  })
})

describe('the metadata of a queue', () => {
  test('is shown with every reserved key', async () => {
    const queue = await newQueue({ a: { b: [1] }, _default_message_ttl: 120 })
    const answer = await app.call('GET', `/v2/queues/${queue}`)
    expect(answer.json).toEqual({ ...DEFAULTS, a: { b: [1] }, _default_message_ttl: 120 })
  })

  test('is the defaults for a queue that does not exist, which stays so', async () => {
    const answer = await app.call('GET', '/v2/queues/never-made')

    expect([answer.status, answer.json]).toEqual([200, DEFAULTS])
    expect((await app.call('PUT', '/v2/queues/never-made')).status).toBe(201)
  })
})

describe('patching metadata', () => {
  test('adds, replaces and removes keys in order, and answers the whole new metadata', async () => {
    const queue = await newQueue({ a: 1, b: 2 })

    const answer = await patch(queue, [
      { op: 'add', path: '/metadata/c', value: { d: null } },
      { op: 'replace', path: '/metadata/a', value: 10 },
      { op: 'remove', path: '/metadata/b' },
      { op: 'add', path: '/metadata/a', value: 11 },
    ])

    const expected = { ...DEFAULTS, a: 11, c: { d: null } }
    expect([answer.status, answer.json]).toEqual([200, expected])
    expect((await app.call('GET', `/v2/queues/${queue}`)).json).toEqual(expected)
  })

  test('replaces a reserved key that was never set, and removing it restores the default', async () => {
    const queue = await newQueue()
    const set = await patch(queue, [{ op: 'replace', path: '/metadata/_default_message_ttl', value: 90 }])
    const unset = await patch(queue, [{ op: 'remove', path: '/metadata/_default_message_ttl' }])
    const again = await patch(queue, [{ op: 'remove', path: '/metadata/_default_message_ttl' }])

    expect([set, unset, again].map(({ json }) => json._default_message_ttl)).toEqual([90, 3600, 3600])
  })

  test('reaches keys with a slash or a tilde by ~1 and ~0', async () => {
    const queue = await newQueue()
    const answer = await patch(queue, [{ op: 'add', path: '/metadata/a~1b~0c', value: 1 }])
    expect(answer.json['a/b~c']).toBe(1)
  })

  test('treats __proto__ like any other key', async () => {
    const queue = await newQueue()
    const answer = await patch(queue, [{ op: 'add', path: '/metadata/__proto__', value: { polluted: true } }])

    expect(answer.text).toContain('"__proto__":{"polluted":true}')
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })

  test('of a missing key by replace or remove is a conflict, and no change of that patch is applied', async () => {
    const queue = await newQueue({ a: 1 })
    for (const op of ['replace', 'remove']) {
      const answer = await patch(queue, [
        { op: 'add', path: '/metadata/a', value: 2 },
        { op, path: '/metadata/none', value: 1 },
      ])
      expect(answer.status).toBe(409)
    }
    expect((await app.call('GET', `/v2/queues/${queue}`)).json.a).toBe(1)
  })

  test('of an unknown queue answers 404', async () => {
    expect((await patch('unknown', [{ op: 'add', path: '/metadata/a', value: 1 }])).status).toBe(404)
  })

  test('under another content type answers 415 and names the right one', async () => {
    const queue = await newQueue()
    for (const type of ['application/json', 'application/json-patch+json', 'text/plain']) {
      const answer = await patch(queue, [], type)
      expect(answer.status).toBe(415)
      expect(answer.json.description).toContain(PATCH_TYPE)
    }
    expect((await patch(queue, [], `${PATCH_TYPE}; charset=utf-8`)).status).toBe(200)
  })

  test('that is malformed is rejected with 400', async () => {
    const queue = await newQueue()
    const paths = [
      '/metadata',
      '/a',
      '/metadata/a/b',
      'metadata/a',
      '/metadata/',
      '/other/a',
      '',
      5,
      '/metadata/~2',
    ]
    const bad = [
      '{',
      { op: 'add', path: '/metadata/a', value: 1 },
      [1],
      [null],
      [{ op: 'move', path: '/metadata/a', value: 1 }],
      [{ path: '/metadata/a', value: 1 }],
      [{ op: 'add', path: '/metadata/a' }],
      [{ op: 'add', value: 1 }],
      ...paths.map((path) => [{ op: 'add', path, value: 1 }]),
      [{ op: 'add', path: '/metadata/_default_message_ttl', value: 1 }],
    ]
    for (const body of bad) expect((await patch(queue, body)).status, JSON.stringify(body)).toBe(400)
  })

  test('cannot make metadata larger than 64 KiB step by step', async () => {
    const queue = await newQueue()
    const half = 'x'.repeat(33_000)
    expect((await patch(queue, [{ op: 'add', path: '/metadata/a', value: half }])).status).toBe(200)
    expect((await patch(queue, [{ op: 'add', path: '/metadata/b', value: half }])).status).toBe(400)
  })

  test('by many at once loses no change', async () => {
    const queue = await newQueue()
    const keys = Array.from({ length: 20 }, (_, at) => `k${at}`)
    await Promise.all(keys.map((key) => patch(queue, [{ op: 'add', path: `/metadata/${key}`, value: key }])))

    const { json } = await app.call('GET', `/v2/queues/${queue}`)
    expect(Object.keys(json)).toEqual(expect.arrayContaining(keys))
  })
})

describe('deleting a queue', () => {
  test('answers 204 whether it existed or not, and drops messages and metadata', async () => {
    const queue = await newQueue({ a: 1 })
    await app.call('POST', `/v2/queues/${queue}/messages`, { body: { messages: [{ body: 1 }] } })

    const answers = [
      await app.call('DELETE', `/v2/queues/${queue}`),
      await app.call('DELETE', `/v2/queues/${queue}`),
    ]

    expect(answers.map(({ status }) => status)).toEqual([204, 204])
    expect((await app.call('GET', `/v2/queues/${queue}`)).json).toEqual(DEFAULTS)
    expect((await app.call('GET', `/v2/queues/${queue}/messages?echo=true`)).json.messages).toEqual([])
  })

  test('lets the next post create it again', async () => {
    const queue = await newQueue()
    const body = { messages: [{ body: 'again' }] }
    await app.call('POST', `/v2/queues/${queue}/messages`, { body })
    await app.call('DELETE', `/v2/queues/${queue}`)

    expect((await app.call('POST', `/v2/queues/${queue}/messages`, { body })).status).toBe(201)
    const listed = await app.call('GET', `/v2/queues?name=${queue}`)
    expect(listed.json.queues.map(({ name }: { name: string }) => name)).toContain(queue)
  })
})

describe('listing queues', () => {
  const names = Array.from({ length: 23 }, (_, at) => `n${String(at).padStart(2, '0')}`)
  const project = 'listing'
  const list = (query = ''): Promise<HttpAnswer> => app.call('GET', `/v2/queues${query}`, { project })
  const namesOf = ({ json }: HttpAnswer): string[] => json.queues.map(({ name }: { name: string }) => name)

  beforeAll(async () => {
    await Promise.all(
      names.map((name) => app.call('PUT', `/v2/queues/${name}`, { project, body: { of: name } })),
    )
  })

  test('gives ten by name, with their URLs and a link to the next', async () => {
    const answer = await list()

    expect(namesOf(answer)).toEqual(names.slice(0, 10))
    expect(answer.json.queues[0]).toEqual({ name: 'n00', href: '/v2/queues/n00' })
    expect(answer.json.links).toEqual([{ rel: 'next', href: '/v2/queues?marker=n09' }])
    expect(answer.json).not.toHaveProperty('count')
  })

  test('is complete when a client follows the links, which keep the parameters', async () => {
    const found: string[] = []
    let next = '/v2/queues?limit=7&detailed=true'
    for (;;) {
      const answer = await app.call('GET', next, { project })
      if (answer.json.links.length === 0) break
      found.push(...namesOf(answer))
      expect(answer.json.queues.every(({ metadata }: { metadata: unknown }) => metadata !== undefined)).toBe(
        true,
      )
      next = answer.json.links[0].href
    }
    expect(found).toEqual(names)
  })

  test('has no link when the page is empty', async () => {
    expect((await list('?marker=zzz')).json).toEqual({ queues: [], links: [] })
  })

  test('shows metadata and the count on request', async () => {
    const answer = await list('?limit=1&detailed=true&with_count=true')
    expect(answer.json.queues[0].metadata).toEqual({ ...DEFAULTS, of: 'n00' })
    expect(answer.json.count).toBe(23)
  })

  test('continues after a marker that does not exist any more', async () => {
    expect(namesOf(await list('?marker=n05x&limit=2'))).toEqual(['n06', 'n07'])
  })

  test('finds names by a part', async () => {
    expect(namesOf(await list('?name=2'))).toEqual(['n02', 'n12', 'n20', 'n21', 'n22'])
    expect(namesOf(await list('?name=2&limit=2&marker=n02'))).toEqual(['n12', 'n20'])
    expect(namesOf(await list('?name=nowhere'))).toEqual([])
  })

  test('rejects limits outside 1 to 20, invalid booleans, and markers that are not names', async () => {
    const bad = [
      'limit=0',
      'limit=21',
      'limit=-1',
      'limit=x',
      'limit=1.5',
      'limit=1e1',
      'detailed=maybe',
      'marker=a%20b',
    ]
    for (const query of bad) expect((await list(`?${query}`)).status, query).toBe(400)
    expect((await list('?limit=20')).json.queues).toHaveLength(20)
  })

  test('shows each project its own queues only', async () => {
    expect(namesOf(await app.call('GET', '/v2/queues', { project: 'listing2' }))).toEqual([])
  })
})

describe('the statistics of a queue', () => {
  test('count free and claimed messages and show the ends', async () => {
    const queue = await newQueue()
    const body = { messages: [{ body: 'first' }, { body: 2, ttl: 60 }, { body: [], ttl: 90 }] }
    await app.call('POST', `/v2/queues/${queue}/messages`, { body })
    const claim = await app.call('POST', `/v2/queues/${queue}/claims?limit=1`)
    const claimId = claim.headers.get('location')?.split('/').at(-1)

    const { messages } = (await app.call('GET', `/v2/queues/${queue}/stats`)).json

    expect(messages).toMatchObject({ claimed: 1, free: 2, total: 3 })
    const { created, ...oldest } = messages.oldest
    expect(created).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    const href = claim.json.messages[0].href
    expect(oldest).toEqual({ href, ttl: 3600, age: 0, body: 'first', claim_id: claimId, claim_count: 1 })
    expect(messages.newest).toMatchObject({ ttl: 90, body: [], claim_id: null, claim_count: 0 })
  })

  test('of an unknown queue are zeros without ends', async () => {
    const answer = await app.call('GET', '/v2/queues/no-stats/stats')
    expect(answer.json).toEqual({ messages: { claimed: 0, free: 0, total: 0 } })
  })
})
