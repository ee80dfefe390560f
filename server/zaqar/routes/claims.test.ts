import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type HttpAnswer, BOB, startApp, type TestApp } from '../../testing/test-app.ts'

let app: TestApp
let hasty: TestApp
beforeAll(async () => {
  app = await startApp(inject('redisPort'))
  hasty = await startApp(inject('redisPort'), {
    limits: { minMessageTtl: 1, minClaimTtl: 1, minClaimGrace: 1 },
  })
})
afterAll(() => Promise.all([app[Symbol.asyncDispose](), hasty[Symbol.asyncDispose]()]))

let queues = 0

async function setup(bodies: unknown[], { on = app, ttl = 3600 } = {}): Promise<string> {
  const queue = `/v2/queues/c${(queues += 1)}`
  const messages = bodies.map((body) => ({ body, ttl }))
  await on.call('POST', `${queue}/messages`, { body: { messages } })
  return queue
}

const claim = (queue: string, body?: unknown, query = ''): Promise<HttpAnswer> =>
  app.call('POST', `${queue}/claims${query}`, { ...(body === undefined ? {} : { body }), client: BOB })

const bodiesOf = ({ json }: HttpAnswer): unknown[] => json.messages.map(({ body }: { body: unknown }) => body)

describe('claiming', () => {
  test('gives the oldest free messages: 201 with the URL of the claim', async () => {
    const queue = await setup(['a', 'b', 'c'])

    const answer = await claim(queue, { ttl: 100, grace: 100 }, '?limit=2')

    expect(answer.status).toBe(201)
    expect(bodiesOf(answer)).toEqual(['a', 'b'])
    const place = answer.headers.get('location') ?? ''
    expect(place).toMatch(new RegExp(`^${queue}/claims/\\d+$`))
    const [first] = answer.json.messages
    expect(first.href).toBe(`${queue}/messages/${first.id}?claim_id=${place.split('/').at(-1)}`)
    expect(Object.keys(first)).toEqual(['id', 'href', 'ttl', 'age', 'body'])
  })

  test('also gives messages to the client who posted them, and no message twice', async () => {
    const queue = await setup(['a', 'b'])
    const [mine, theirs] = [await app.call('POST', `${queue}/claims?limit=1`), await claim(queue)]
    expect([...bodiesOf(mine), ...bodiesOf(theirs)]).toEqual(['a', 'b'])
    expect((await claim(queue)).status).toBe(204)
  })

  test('nothing answers 204 without a body, also in a queue that does not exist', async () => {
    const queue = await setup(['a'])
    await claim(queue)
    for (const each of [queue, '/v2/queues/never-claimed']) {
      const answer = await claim(each)
      expect([answer.status, answer.text]).toEqual([204, ''])
    }
  })

  test('needs no body: ten messages for 300 seconds', async () => {
    const queue = await setup(Array.from({ length: 12 }, (_, at) => at))
    const answer = await claim(queue)
    expect(bodiesOf(answer)).toHaveLength(10)
    expect((await app.call('GET', answer.headers.get('location') ?? '')).json.ttl).toBe(300)
  })

  test('accepts a ttl and a grace of 60 seconds to 12 hours and 1 to 20 messages', async () => {
    const queue = await setup(['a', 'b'])
    const wrong = [59, 43_201, '60', 60.5, true]
    for (const name of ['ttl', 'grace']) {
      for (const value of wrong)
        expect((await claim(queue, { [name]: value })).status, `${name} ${value}`).toBe(400)
    }
    expect((await claim('/v2/queues/empty', { ttl: null, grace: null })).status).toBe(204)
    for (const body of ['[]', '1', '{', 'null', '"a"'])
      expect((await claim(queue, body)).status, body).toBe(400)
    for (const limit of ['0', '21', 'x']) expect((await claim(queue, {}, `?limit=${limit}`)).status).toBe(400)
    expect((await claim(queue, { ttl: 60, grace: 43_200 }, '?limit=1')).status).toBe(201)
    expect((await claim(queue, { ttl: 43_200, grace: 60 }, '?limit=20')).status).toBe(201)
  })

  test('makes messages outlive the claim by its grace, and leaves longer lives unchanged', async () => {
    const [short, long] = [await setup([1], { ttl: 60 }), await setup([1], { ttl: 3600 })]
    const [prolonged, untouched] = [
      await claim(short, { ttl: 300, grace: 90 }),
      await claim(long, { ttl: 300, grace: 90 }),
    ]

    expect(prolonged.json.messages[0].ttl).toBe(390)
    expect(untouched.json.messages[0].ttl).toBe(3600)
    for (const made of [prolonged, untouched]) {
      const shown = await app.call('GET', made.headers.get('location') ?? '')
      expect(shown.json.messages[0].ttl).toBe(made.json.messages[0].ttl)
    }
  })
})

describe('a claim', () => {
  test('shows its age, its ttl and its messages', async () => {
    const queue = await setup(['a', 'b'])
    const made = await claim(queue, { ttl: 120, grace: 60 })
    const place = made.headers.get('location') ?? ''

    const shown = await app.call('GET', place)

    expect(shown.status).toBe(200)
    expect(shown.json).toEqual({ age: 0, ttl: 120, href: place, messages: made.json.messages })
  })

  test('that is unknown or has an invalid id answers 404, also to a change, and its release 204', async () => {
    const queue = await setup(['a'])
    for (const id of ['1', '0', 'x', '-5', '1.5', '9'.repeat(16), '9'.repeat(400), '%00', '1e3']) {
      const place = `${queue}/claims/${id}`
      expect((await app.call('GET', place)).status, id).toBe(404)
      expect((await app.call('PATCH', place, { body: {} })).status, id).toBe(404)
      expect((await app.call('DELETE', place)).status, id).toBe(204)
    }
  })

  test('of another queue or project is unknown', async () => {
    const [queue, other] = [await setup(['a']), await setup(['b'])]
    const id = (await claim(queue)).headers.get('location')?.split('/').at(-1)

    expect((await app.call('GET', `${other}/claims/${id}`)).status).toBe(404)
    expect((await app.call('GET', `${queue}/claims/${id}`, { project: 'other' })).status).toBe(404)
    expect((await app.call('DELETE', `${queue}/claims/${id}`, { project: 'other' })).status).toBe(204)
    expect((await app.call('GET', `${queue}/claims/${id}`)).status).toBe(200)
  })

  test('that is longer than its messages gives them its ttl and grace, for every reader', async () => {
    const queue = '/v2/queues/longer'
    await app.call('POST', `${queue}/messages`, { body: { messages: [{ body: 1, ttl: 400 }] } })
    // Not in the millisecond of the post.
    await sleep(20)
    expect((await claim(queue, { ttl: 340, grace: 60 })).json.messages[0].ttl).toBe(400)
    const page = await app.call('GET', `${queue}/messages?echo=true&include_claimed=true`)
    expect(page.json.messages[0].ttl).toBe(400)
  })

  test('is extended by a change; members that are not named get their defaults', async () => {
    const queue = await setup(['a'])
    const place = (await claim(queue, { ttl: 100, grace: 60 })).headers.get('location') ?? ''

    const changed = await app.call('PATCH', place, { body: { ttl: 200, grace: 60 } })
    expect([changed.status, changed.text]).toEqual([204, ''])
    expect((await app.call('GET', place)).json.ttl).toBe(200)
    await app.call('PATCH', place, { body: { grace: 70 } })
    expect((await app.call('GET', place)).json.ttl).toBe(300)
  })

  test('rejects an invalid change with 400 and stays unchanged', async () => {
    const queue = await setup(['a'])
    const place = (await claim(queue, { ttl: 100 })).headers.get('location') ?? ''
    for (const body of ['{', '[]', '{"ttl":59}', '{"ttl":43201}', '{"grace":"60"}', '{"ttl":null}']) {
      expect((await app.call('PATCH', place, { body })).status, body).toBe(400)
    }
    expect((await app.call('GET', place)).json.ttl).toBe(100)
  })

  test('that is released gives its messages back in their places, and ends', async () => {
    const queue = await setup(['a', 'b'])
    const place = (await claim(queue, {}, '?limit=1')).headers.get('location') ?? ''

    expect((await app.call('DELETE', place)).status).toBe(204)
    expect((await app.call('DELETE', place)).status).toBe(204)
    expect((await app.call('GET', place)).status).toBe(404)
    expect(bodiesOf(await claim(queue))).toEqual(['a', 'b'])
  })

  test('grows older, and restarts with a change', async () => {
    const queue = await setup(['a'])
    const place = (await claim(queue)).headers.get('location') ?? ''
    const age = async (): Promise<number> => (await app.call('GET', place)).json.age

    while ((await age()) < 1) await sleep(100)
    await app.call('PATCH', place, { body: {} })

    expect(await age()).toBe(0)
  })
})

test('a message whose claim has ended is free again, and the claim does not exist any more', async () => {
  const queue = await setup(['a'], { on: hasty })
  const made = await hasty.call('POST', `${queue}/claims`, { body: { ttl: 1, grace: 1 } })
  const [message] = made.json.messages

  let again = await hasty.call('POST', `${queue}/claims`)
  while (again.status === 204) again = await hasty.call('POST', `${queue}/claims`)

  expect(bodiesOf(again)).toEqual(['a'])
  expect((await hasty.call('GET', made.headers.get('location') ?? '')).status).toBe(404)
  expect((await hasty.call('DELETE', message.href)).status).toBe(400)
})

test('a message that expires disappears from pages, statistics and claims', async () => {
  const queue = await setup(['a'], { on: hasty, ttl: 1 })
  const total = async (): Promise<number> => (await hasty.call('GET', `${queue}/stats`)).json.messages.total

  while ((await total()) > 0) await sleep(50)

  expect((await hasty.call('GET', `${queue}/messages?echo=true`)).json.messages).toEqual([])
  expect((await hasty.call('POST', `${queue}/claims`)).status).toBe(204)
})
