import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type HttpAnswer, startApp, type TestApp } from '../../testing/test-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp(inject('redisPort'))
})
afterAll(() => app[Symbol.asyncDispose]())

let queues = 0

interface Setup {
  readonly queue: string
  /** URLs of its messages. */
  readonly hrefs: string[]
}

async function setup(bodies: unknown[]): Promise<Setup> {
  const queue = `/v2/queues/r${(queues += 1)}`
  const messages = bodies.map((body) => ({ body }))
  const { json } = await app.call('POST', `${queue}/messages`, { body: { messages } })
  return { queue, hrefs: json.resources }
}

const remove = async (href: string): Promise<number> => (await app.call('DELETE', href)).status

const exists = async (href: string): Promise<boolean> => (await app.call('GET', href)).status === 200

/** Claims the oldest free message; its href names the claim. */
async function claimOne(queue: string): Promise<string> {
  const { json } = await app.call('POST', `${queue}/claims?limit=1`)
  return json.messages[0].href
}

const idsOf = (hrefs: string[]): string => hrefs.map((href) => href.split('/').at(-1)).join(',')

const bodiesOf = ({ json }: HttpAnswer): unknown[] => json.messages.map(({ body }: { body: unknown }) => body)

test('the URL of a claimed message names its claim, in a page, by ids and alone, and deletes it', async () => {
  const { queue, hrefs } = await setup([1, 2])
  const claimed = await claimOne(queue)
  const [, free = ''] = hrefs

  const page = await app.call('GET', `${queue}/messages?echo=true&include_claimed=true`)
  const byIds = await app.call('GET', `${queue}/messages?ids=${idsOf(hrefs)}`)
  const alone = await app.call('GET', hrefs[0] ?? '')

  for (const { json } of [page, byIds]) {
    expect(json.messages.map(({ href }: { href: string }) => href)).toEqual([claimed, free])
  }
  expect(alone.json.href).toBe(claimed)
  expect(await remove(alone.json.href)).toBe(204)
  expect(await exists(claimed)).toBe(false)
})

describe('deleting one message', () => {
  test('removes it, and answers 204 also if it does not exist', async () => {
    const { hrefs } = await setup([1])
    const [href = ''] = hrefs

    expect(await remove(href)).toBe(204)
    expect(await exists(href)).toBe(false)
    expect(await remove(href)).toBe(204)
    for (const id of ['1', 'x', '%00', '9'.repeat(300)])
      expect(await remove(href.replace(/[^/]+$/, id))).toBe(204)
  })

  test('that is claimed needs the claim: 403 without it', async () => {
    const { queue, hrefs } = await setup([1])
    await claimOne(queue)

    expect(await remove(hrefs[0] ?? '')).toBe(403)
    expect(await exists(hrefs[0] ?? '')).toBe(true)
  })

  test('with its claim removes it', async () => {
    const { queue, hrefs } = await setup([1, 2])
    expect(await remove(await claimOne(queue))).toBe(204)
    expect(await exists(hrefs[0] ?? '')).toBe(false)
    expect(await exists(hrefs[1] ?? '')).toBe(true)
  })

  test('again with its claim answers 204, also when it was the last one of the claim', async () => {
    const { queue } = await setup([1, 2])
    for (let count = 0; count < 2; count += 1) {
      const href = await claimOne(queue)
      expect([await remove(href), await remove(href)]).toEqual([204, 204])
    }
  })

  test('that is not claimed, with a live claim, is rejected with 400', async () => {
    const { queue, hrefs } = await setup([1, 2])
    const claimId = (await claimOne(queue)).split('=').at(-1)

    expect(await remove(`${hrefs[1]}?claim_id=${claimId}`)).toBe(400)
    expect(await exists(hrefs[1] ?? '')).toBe(true)
  })

  test('with a claim that is unknown, ended or malformed is rejected with 400', async () => {
    const { queue, hrefs } = await setup([1])
    const href = await claimOne(queue)
    await app.call('DELETE', `${queue}/claims/${href.split('=').at(-1)}`)

    expect(await remove(href)).toBe(400)
    for (const id of ['1', '0', '-1', 'x', '1.5', '9'.repeat(16), '9'.repeat(30), '%00', '1e3']) {
      expect(await remove(`${hrefs[0]}?claim_id=${id}`), id).toBe(400)
    }
    expect(await exists(hrefs[0] ?? '')).toBe(true)
  })

  test('with the claim that holds another message is rejected with 403', async () => {
    const { queue, hrefs } = await setup([1, 2])
    const first = await claimOne(queue)
    await claimOne(queue)

    expect(await remove(`${hrefs[1]}?claim_id=${first.split('=').at(-1)}`)).toBe(403)
    expect(await exists(hrefs[1] ?? '')).toBe(true)
  })
})

describe('deleting by ids', () => {
  test('removes those that exist, claimed or not, and answers 204', async () => {
    const { queue, hrefs } = await setup([1, 2, 3])
    await claimOne(queue)

    expect(await remove(`${queue}/messages?ids=${idsOf(hrefs.slice(0, 2))},1,x`)).toBe(204)
    expect(await Promise.all(hrefs.map(exists))).toEqual([false, false, true])
    expect(await remove(`${queue}/messages?ids=x`)).toBe(204)
  })

  test('accepts at most 20', async () => {
    const { queue } = await setup([1])
    const ids = Array.from({ length: 21 }, (_, at) => at + 1)
    expect(await remove(`${queue}/messages?ids=${ids.join(',')}`)).toBe(400)
    expect(await remove(`${queue}/messages?ids=${ids.slice(1).join(',')}`)).toBe(204)
  })

  test('or popping must be requested, and not both', async () => {
    const { queue, hrefs } = await setup([1])
    expect(await remove(`${queue}/messages`)).toBe(400)
    expect(await remove(`${queue}/messages?ids=`)).toBe(400)
    expect(await remove(`${queue}/messages?ids=${idsOf(hrefs)}&pop=1`)).toBe(400)
    expect(await exists(hrefs[0] ?? '')).toBe(true)
  })
})

describe('popping', () => {
  test('takes the oldest free messages out of the queue', async () => {
    const { queue } = await setup(['claimed', 'b', 'c', 'd'])
    await claimOne(queue)

    const popped = await app.call('DELETE', `${queue}/messages?pop=2`)

    expect([popped.status, bodiesOf(popped)]).toEqual([200, ['b', 'c']])
    expect(Object.keys(popped.json.messages[0])).toEqual([
      'id',
      'ttl',
      'age',
      'body',
      'claim_id',
      'claim_count',
    ])
    expect(popped.json.messages[0]).toMatchObject({ ttl: 3600, claim_id: null, claim_count: 1 })
    expect(bodiesOf(await app.call('GET', `${queue}/messages?echo=true`))).toEqual(['d'])
  })

  test('an empty or unknown queue gives an empty list', async () => {
    const answer = await app.call('DELETE', '/v2/queues/nothing-to-pop/messages?pop=20')
    expect([answer.status, answer.json]).toEqual([200, { messages: [] }])
  })

  test('accepts 1 to 20', async () => {
    const { queue } = await setup([1])
    for (const pop of ['0', '21', '-1', 'x', '1.5'])
      expect(await remove(`${queue}/messages?pop=${pop}`), pop).toBe(400)
  })

  test('by many at once gives each message to one of them', async () => {
    const bodies = Array.from({ length: 60 }, (_, at) => at)
    const { queue } = await setup(bodies)
    const pops = await Promise.all(bodies.map(() => app.call('DELETE', `${queue}/messages?pop=2`)))
    const popped = pops.flatMap(bodiesOf) as number[]
    expect(popped.toSorted((a, b) => a - b)).toEqual(bodies)
  })
})
