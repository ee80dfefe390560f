import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type HttpAnswer, BOB, type CallOptions, startApp, type TestApp } from '../../testing/test-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp(inject('redisPort'))
})
afterAll(() => app[Symbol.asyncDispose]())

let queues = 0
const newQueue = (): string => `/v2/queues/m${(queues += 1)}`

const post = (queue: string, bodies: unknown[], options: CallOptions = {}): Promise<HttpAnswer> =>
  app.call('POST', `${queue}/messages`, { ...options, body: { messages: bodies.map((body) => ({ body })) } })

const read = (queue: string, query = 'echo=true'): Promise<HttpAnswer> =>
  app.call('GET', `${queue}/messages?${query}`)

const bodiesOf = ({ json }: HttpAnswer): unknown[] => json.messages.map(({ body }: { body: unknown }) => body)

describe('posting messages', () => {
  test('answers 201 with their URLs, in order', async () => {
    const queue = newQueue()
    const answer = await post(queue, ['a', 'b', 'c'])

    expect(answer.status).toBe(201)
    expect(Object.keys(answer.json)).toEqual(['resources'])
    const ids = answer.json.resources.map((href: string) => href.split('/').at(-1))
    expect(answer.json.resources).toEqual(ids.map((id: string) => `${queue}/messages/${id}`))
    expect(answer.headers.get('location')).toBe(`${queue}/messages?ids=${ids.join(',')}`)
    expect(bodiesOf(await app.call('GET', answer.headers.get('location') ?? ''))).toEqual(['a', 'b', 'c'])
  })

  test('creates the queue', async () => {
    const queue = newQueue()
    await post(queue, [1])
    const listed = await app.call('GET', `/v2/queues?limit=20&name=${queue.split('/').at(-1)}`)
    expect(listed.json.queues).toHaveLength(1)
  })

  test('accepts lives from 60 seconds to 14 days, one hour by default, and drops unknown fields', async () => {
    const queue = newQueue()
    const messages = [{ body: 1, ttl: 60 }, { body: 2, ttl: 1_209_600, color: 'red' }, { body: null }]
    await app.call('POST', `${queue}/messages`, { body: { messages } })

    const { json } = await read(queue)
    expect(json.messages.map(({ ttl }: { ttl: number }) => ttl)).toEqual([60, 1_209_600, 3600])
    expect(json.messages[2].body).toBeNull()
    expect(Object.keys(json.messages[1])).toEqual(['id', 'href', 'ttl', 'age', 'body'])
  })

  test('with one invalid message stores none of them, and creates no queue', async () => {
    const bad = [
      ...[59, 1_209_601, '60', 60.5, null, true, -1].map((ttl) => ({ body: 1, ttl })),
      { ttl: 60 },
      {},
      [],
      ['body'],
      'body',
      5,
      null,
    ]
    const queue = newQueue()
    for (const message of bad) {
      const answer = await app.call('POST', `${queue}/messages`, {
        body: { messages: [{ body: 1 }, message] },
      })
      expect(answer.status, JSON.stringify(message)).toBe(400)
    }
    expect((await read(queue)).json.messages).toEqual([])
    expect((await app.call('PUT', queue)).status).toBe(201)
  })

  test('needs an object with a list of at least one', async () => {
    const queue = newQueue()
    for (const body of [
      '',
      '[]',
      '{}',
      '{"messages":[]}',
      '{"messages":{}}',
      '{"messages":',
      '1',
      '[{"body":1}]',
    ]) {
      expect((await app.call('POST', `${queue}/messages`, { body })).status, body).toBe(400)
    }
    expect((await app.call('POST', `${queue}/messages`)).status).toBe(400)
  })

  test('accepts a request of 262144 bytes and no more', async () => {
    const queue = newQueue()
    const sized = (size: number): string => `{"messages":[{"body":"${'x'.repeat(size - 26)}"}]}`
    expect((await app.call('POST', `${queue}/messages`, { body: sized(262_144) })).status).toBe(201)
    const refused = await app.call('POST', `${queue}/messages`, { body: sized(262_145) })
    expect([refused.status, refused.json.title]).toEqual([400, 'Invalid API request'])
  })

  test('accepts a thousand messages at once and keeps their order', async () => {
    const queue = newQueue()
    const answer = await post(
      queue,
      Array.from({ length: 1000 }, (_, at) => at),
    )

    expect(answer.status).toBe(201)
    expect(answer.json.resources).toHaveLength(1000)
    expect(answer.headers.get('location')).toBe(`${queue}/messages`)
    expect(
      (await app.call('DELETE', `${queue}/messages?pop=3`)).json.messages.map((m: { body: 0 }) => m.body),
    ).toEqual([0, 1, 2])
  })

  test('follows the metadata of the queue for size and life', async () => {
    const queue = newQueue()
    await app.call('PUT', queue, { body: { _max_messages_post_size: 40, _default_message_ttl: 77 } })

    expect((await post(queue, ['x'.repeat(40)])).status).toBe(400)
    expect((await post(queue, ['x'])).status).toBe(201)
    expect((await read(queue)).json.messages[0].ttl).toBe(77)
  })

  test('sees a change of the metadata through the same process at once', async () => {
    const queue = newQueue()
    await post(queue, [1])
    await app.call('PATCH', queue, {
      body: [{ op: 'add', path: '/metadata/_default_message_ttl', value: 88 }],
      headers: { 'Content-Type': 'application/openstack-messaging-v2.0-json-patch' },
    })
    await post(queue, [2])
    await app.call('DELETE', queue)
    await post(queue, [3])

    expect((await read(queue)).json.messages.map((m: { ttl: number }) => m.ttl)).toEqual([3600])
  })
})

describe('delayed messages', () => {
  test('exist only in a queue with a default delay; elsewhere the field has no effect', async () => {
    const [plain, slow] = [newQueue(), newQueue()]
    await app.call('PUT', slow, { body: { _default_message_delay: 300 } })
    for (const queue of [plain, slow]) {
      const messages = [{ body: 'default' }, { body: 'now', delay: 0 }, { body: 'later', delay: 900 }]
      await app.call('POST', `${queue}/messages`, { body: { messages } })
    }

    expect(bodiesOf(await read(plain))).toEqual(['default', 'now', 'later'])
    expect(bodiesOf(await read(slow))).toEqual(['now'])
    expect(bodiesOf(await read(slow, 'echo=true&include_delayed=true'))).toEqual(['now', 'default', 'later'])
    expect(
      (await app.call('POST', `${plain}/messages`, { body: '{"messages":[{"body":1,"delay":"x"}]}' })).status,
    ).toBe(201)
  })

  test('of more than 900 seconds, or of no whole number, are rejected with 400', async () => {
    const queue = newQueue()
    await app.call('PUT', queue, { body: { _default_message_delay: 1 } })
    for (const delay of [901, -1, '5', 1.5, null]) {
      const answer = await app.call('POST', `${queue}/messages`, { body: { messages: [{ body: 1, delay }] } })
      expect(answer.status, String(delay)).toBe(400)
    }
  })
})

describe('reading pages', () => {
  test('begins with the oldest message and gives ten, with a link to the next', async () => {
    const queue = newQueue()
    await post(
      queue,
      Array.from({ length: 12 }, (_, at) => at),
    )

    const first = await read(queue)
    const second = await app.call('GET', first.json.links[0].href)
    const third = await app.call('GET', second.json.links[0].href)

    expect(bodiesOf(first)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(first.json.links[0].rel).toBe('next')
    expect(first.json.links[0].href).toMatch(new RegExp(`^${queue}/messages\\?echo=true&marker=[^&]+$`))
    expect(bodiesOf(second)).toEqual([10, 11])
    expect(third.json).toEqual({ messages: [], links: [] })
  })

  test('keeps the given parameters in the link, and adds none', async () => {
    const queue = newQueue()
    await post(queue, [1])
    const { json } = await read(queue, 'limit=3&echo=yes&include_claimed=on&include_delayed=0&color=red')
    const link = new URL(json.links[0].href, app.url).searchParams
    link.delete('marker')
    expect(link.toString()).toBe('limit=3&echo=yes&include_claimed=on&include_delayed=0')
  })

  test('hides messages of the same client unless echo is requested', async () => {
    const queue = newQueue()
    await post(queue, ['mine'])
    await post(queue, ['theirs'], { client: BOB })

    expect(bodiesOf(await read(queue, ''))).toEqual(['theirs'])
    expect(bodiesOf(await read(queue, 'echo=false'))).toEqual(['theirs'])
    expect(bodiesOf(await read(queue, 'echo=true'))).toEqual(['mine', 'theirs'])
  })

  test('hides claimed messages unless they are requested', async () => {
    const queue = newQueue()
    await post(queue, ['claimed', 'free'])
    await app.call('POST', `${queue}/claims?limit=1`)

    expect(bodiesOf(await read(queue))).toEqual(['free'])
    expect(bodiesOf(await read(queue, 'echo=true&include_claimed=true'))).toEqual(['claimed', 'free'])
  })

  test('of an unknown queue is empty', async () => {
    expect((await read(newQueue())).json).toEqual({ messages: [], links: [] })
  })

  test('rejects limits outside 1 to 20, invalid booleans, and forged markers', async () => {
    const queue = newQueue()
    await post(queue, [1])
    const markers = [
      'x',
      'end',
      '1',
      '1-',
      '-1',
      '1-2-3',
      "1-1'",
      '9'.repeat(40),
      '1-1%00',
      '%F0%9F%98%80',
      '1.5-2',
    ]
    const bad = [
      ...['0', '21', '-1', 'x', '1.5', '1e1', '99999999999999999999'].map((limit) => `limit=${limit}`),
      'echo=maybe',
      'include_claimed=2',
      'include_delayed=nein',
      ...markers.map((marker) => `marker=${marker}`),
    ]
    for (const query of bad) {
      const { status, json } = await read(queue, query)
      expect(status, query).toBe(400)
      expect(json.description, query).toContain(query.split('=', 1)[0])
    }
    const well = ['marker=0-0', 'marker=1-9007199254740993', 'marker=9999999999999999-9999999999999999']
    for (const query of [...well, 'limit=20', 'limit=', 'marker=']) {
      expect((await read(queue, `echo=true&${query}`)).status, query).toBe(200)
    }
  })

  test('starts over for a reader whose queue was deleted and created again, and reports it', async () => {
    const queue = newQueue()
    await post(queue, [1])
    const next = (await read(queue)).json.links[0].href
    await app.call('DELETE', queue)
    await post(queue, [2])

    const answer = await app.call('GET', next)

    expect(bodiesOf(answer)).toEqual([2])
    expect(answer.headers.get('perilune-lost-before')).toBe('reset')
    expect((await read(queue)).headers.get('perilune-lost-before')).toBeNull()
  })
})

describe('looking messages up', () => {
  test('by id gives the message, or 404', async () => {
    const queue = newQueue()
    const { json } = await post(queue, [{ a: 1 }])
    const [href] = json.resources

    const found = await app.call('GET', href)

    expect(found.json).toEqual({ id: href.split('/').at(-1), href, ttl: 3600, age: 0, body: { a: 1 } })
    for (const id of [
      '1',
      '0',
      'x',
      '-1',
      '1e3',
      '9'.repeat(16),
      '9'.repeat(400),
      '%00',
      'a%2Fb',
      '%F0%9F%98%80',
    ]) {
      expect((await app.call('GET', `${queue}/messages/${id}`)).status, id).toBe(404)
    }
  })

  test('by several ids keeps their order and leaves out missing ones, with messages of any client', async () => {
    const queue = newQueue()
    const { json } = await post(queue, ['a', 'b'])
    const [a, b] = json.resources.map((href: string) => href.split('/').at(-1))

    expect(bodiesOf(await read(queue, `ids=${b},1,x,${a}`))).toEqual(['b', 'a'])
    expect(bodiesOf(await read(queue, `ids=${b}&ids=${a}`))).toEqual(['b', 'a'])
    expect(bodiesOf(await read(queue, `ids=${a}&echo=false&limit=99`))).toEqual(['a'])
    expect((await read(queue, `ids=${a}`)).json).not.toHaveProperty('links')
  })

  test('by ids that are all missing answers 404, and an encoded comma does not separate', async () => {
    const queue = newQueue()
    const { json } = await post(queue, ['a', 'b'])
    const [a, b] = json.resources.map((href: string) => href.split('/').at(-1))

    expect((await read(queue, 'ids=1,2')).status).toBe(404)
    expect((await read(queue, `ids=${a}%2C${b}`)).status).toBe(404)
  })

  test('by more than 20 ids is rejected with 400', async () => {
    const ids = Array.from({ length: 21 }, (_, at) => at + 1)
    expect((await read(newQueue(), `ids=${ids.join(',')}`)).status).toBe(400)
    expect((await read(newQueue(), `ids=${ids.slice(1).join(',')}`)).status).toBe(404)
  })
})

describe('the body of a message', () => {
  const exact = [
    '9007199254740993',
    '1e400',
    '-0.10',
    '123456789012345678901234567890.000',
    '[]',
    '{}',
    '{"a":[],"b":{},"a":1}',
    '{ "spaced" :  [ 1,\t2 ] }',
    '"\\u00e9\\ud800 é 😀 \\/"',
    '"]}\\"{["',
    'null',
    'false',
    '""',
  ]

  test.each(exact)('%s is returned unchanged, in pages, by id, in claims and when popped', async (body) => {
    const queue = newQueue()
    const sent = `{"messages": [ {"ttl": 60, "body" :  ${body} } , {"body":0,"body":${body}}]}`
    const posted = await app.call('POST', `${queue}/messages`, { body: sent })

    const texts = [
      (await read(queue)).text,
      (await app.call('GET', posted.json.resources[0])).text,
      (await app.call('GET', `${queue}/stats`)).text,
      (await app.call('POST', `${queue}/claims?limit=1`)).text,
      (await app.call('DELETE', `${queue}/messages?pop=1`)).text,
    ]
    // Its age by then depends on the machine.
    for (const text of texts) expect(text.replace(/"age":\d+/, '"age":0')).toContain(`"age":0,"body":${body}`)
  })

  test('that is not UTF-8 is rejected with 400', async () => {
    const body = Buffer.concat([
      Buffer.from('{"messages":[{"body":"'),
      Buffer.from([0xc3, 0x28]),
      Buffer.from('"}]}'),
    ])
    expect((await app.call('POST', `${newQueue()}/messages`, { body })).status).toBe(400)
  })

  test('may be nested 10,000 and 100,000 deep', async () => {
    const queue = newQueue()
    for (const depth of [10_000, 100_000]) {
      const body = '['.repeat(depth) + ']'.repeat(depth)
      const posted = await app.call('POST', `${queue}/messages`, { body: `{"messages":[{"body":${body}}]}` })
      expect(posted.status).toBe(201)
      const popped = await fetch(`${app.url}${posted.json.resources[0]}`, {
        headers: { 'Client-ID': BOB, 'X-Project-ID': 'test' },
      })
      expect(await popped.text()).toContain(`"body":${body}}`)
    }
  })
})

describe('projects', () => {
  test('with the same queue name share nothing', async () => {
    const queue = newQueue()
    const posted = await post(queue, ['secret'])
    const stranger = { project: 'stranger', client: BOB }

    expect((await app.call('GET', `${queue}/messages?echo=true`, stranger)).json.messages).toEqual([])
    expect((await app.call('GET', posted.json.resources[0], stranger)).status).toBe(404)
    expect((await app.call('DELETE', posted.json.resources[0], stranger)).status).toBe(204)
    await app.call('DELETE', queue, stranger)
    expect(bodiesOf(await read(queue))).toEqual(['secret'])
  })

  test('whose ids look like parts of names are not mistaken for each other', async () => {
    const long = 'x'.repeat(256)
    const alike = ['a', 'a/b', 'p:a', 'h:a', 'a}', '{a', 'a%7D', long, 'é'.repeat(256), 'é'.repeat(255)]
    for (const project of alike) await post('/v2/queues/same', [project], { project })
    for (const project of alike) {
      expect(bodiesOf(await app.call('GET', '/v2/queues/same/messages?echo=true', { project }))).toEqual([
        project,
      ])
    }
  })
})
