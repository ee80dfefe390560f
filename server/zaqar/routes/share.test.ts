import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type HttpAnswer, type CallOptions, startApp, type TestApp } from '../../testing/test-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp(inject('redisPort'))
  for (const queue of ['q', 'qq']) {
    await app.call('POST', `/v2/queues/${queue}/messages`, { body: { messages: [{ body: queue }] } })
  }
})
afterAll(() => app[Symbol.asyncDispose]())

const share = (body?: unknown, options: CallOptions = {}): Promise<HttpAnswer> =>
  app.call('POST', '/v2/queues/q/share', { ...options, body })

const headersOf = ({ json }: HttpAnswer): Record<string, string> => ({
  'URL-Signature': json.signature,
  'URL-Methods': json.methods.join(','),
  'URL-Paths': json.paths.join(','),
  'URL-Expires': json.expires,
})

async function statusOf(headers: Record<string, string>, path: string, method = 'GET', project = 'test') {
  return (await app.call(method, path, { headers, project })).status
}

test('a pre-signed URL returns its permissions: by default messages, reading and a day', async () => {
  const { status, json } = await share()

  expect(status).toBe(200)
  expect(json).toEqual({
    paths: ['/v2/queues/q/messages'],
    methods: ['GET'],
    project: 'test',
    expires: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/),
    signature: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  const left = Date.parse(`${json.expires}Z`) - Date.now()
  expect(left).toBeGreaterThan(86_000_000)
  expect(left).toBeLessThanOrEqual(86_400_000)
})

test('it allows its paths with their items, its methods and its project, and nothing else', async () => {
  const headers = headersOf(await share({ paths: ['messages', 'claims'], methods: ['GET', 'POST'] }))
  const queue = '/v2/queues/q'
  const { json } = await app.call('GET', `${queue}/messages?echo=true`)

  expect(await statusOf(headers, `${queue}/messages?echo=true&limit=5`)).toBe(200)
  expect(await statusOf(headers, json.messages[0].href)).toBe(200)
  expect(await statusOf(headers, `${queue}/claims`, 'POST')).toBe(201)
  const outside = [
    queue,
    `${queue}/stats`,
    `${queue}/messages2`,
    `${queue}/messages/`,
    `${queue}/messages/1/2`,
    `${queue}/mess%61ges`,
    '/v2/queues/qq/messages',
    '/v2/queues',
    `/v2/queues/qq/messages?x=${queue}/messages`,
    `/v2/queues/qq/messages/${encodeURIComponent(`${queue}/messages`)}`,
  ]
  for (const path of outside) expect(await statusOf(headers, path), path).toBe(404)
  expect(await statusOf(headers, `${queue}/messages`, 'DELETE')).toBe(404)
  expect(await statusOf(headers, `${queue}/messages`, 'HEAD')).toBe(404)
  expect(await statusOf(headers, `${queue}/messages`, 'GET', 'another')).toBe(404)
})

test('with any part changed or left out, it allows nothing', async () => {
  const good = headersOf(await share({ methods: ['GET'] }))
  const path = '/v2/queues/q/messages'
  expect(await statusOf(good, path)).toBe(200)

  const changed = [
    { 'URL-Signature': good['URL-Signature']?.toUpperCase() },
    { 'URL-Signature': `${good['URL-Signature']}0` },
    { 'URL-Signature': '' },
    { 'URL-Signature': 'é' },
    { 'URL-Methods': 'GET,POST' },
    { 'URL-Paths': '/v2/queues' },
    { 'URL-Paths': `${good['URL-Paths']},/v2/queues/qq/messages` },
    { 'URL-Expires': '2999-01-01T00:00:00' },
    { 'URL-Expires': 'never' },
  ]
  for (const change of changed) {
    const headers = { ...good, ...change } as Record<string, string>
    expect(await statusOf(headers, path), JSON.stringify(change)).toBe(404)
  }
  for (const left of ['URL-Methods', 'URL-Paths', 'URL-Expires']) {
    const { [left]: _, ...headers } = good
    expect(await statusOf(headers, path), left).toBe(404)
  }
})

test('it ends at its time', async () => {
  const expires = new Date(Date.now() + 1500).toISOString().slice(0, 19)
  const answer = await share({ expires })
  const headers = headersOf(answer)
  expect([200, 404]).toContain(await statusOf(headers, '/v2/queues/q/messages'))

  while (Date.now() < Date.parse(`${expires}Z`)) await new Promise((resolve) => setTimeout(resolve, 20))

  expect(await statusOf(headers, '/v2/queues/q/messages')).toBe(404)
})

test('another secret makes another signature', async () => {
  await using other = await startApp(inject('redisPort'))
  const headers = headersOf(await share())
  expect((await other.call('GET', '/v2/queues/q/messages', { headers })).status).toBe(404)
})

test('a time is read in UTC, with or without a fraction or a zone', async () => {
  for (const expires of ['2999-01-31T12:00:00', '2999-01-31T12:00:00.123456', '2999-01-31T13:00:00+01:00']) {
    expect((await share({ expires })).json.expires, expires).toBe('2999-01-31T12:00:00')
  }
})

test.each([
  '[]',
  '1',
  '{',
  { what: 1 },
  { project: 'another' },
  { paths: ['stats'] },
  { paths: [] },
  { paths: 'messages' },
  { methods: ['TRACE'] },
  { methods: ['get'] },
  { methods: [] },
  { methods: [1] },
  { expires: 'tomorrow' },
  { expires: 1_900_000_000 },
  { expires: '2001-01-01T00:00:00' },
  { expires: '2999-13-01T00:00:00' },
])('%j is rejected with 400', async (body) => {
  expect((await share(body)).status).toBe(400)
})
