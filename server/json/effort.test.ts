import { expect, inject, test } from 'vitest'
import { takesTooLong } from './effort.ts'
import { startApp } from '../testing/test-app.ts'

const MOST = 4 * 1024 * 1024 - 100
const filled = (part: string): string => part.repeat(Math.floor(MOST / part.length))
const listOf = (part: string): string => `[${filled(`${part},`)}1]`
const upTo = (most: number, part: (at: number) => string): string => {
  const parts: string[] = []
  for (let [at, left] = [0, most]; left > 0; at += 1) left -= parts[parts.push(part(at)) - 1]?.length ?? 1
  return parts.join(',')
}
/** Names with the same plain polynomial hash: that of `Aa` equals that of `BB`. */
const alike = (at: number): string =>
  at
    .toString(3)
    .padStart(12, '0')
    .replace(/./g, (digit) => ['Aa', 'BB', 'C#'][Number(digit)] ?? '')
const letters = 'abcdefghijklmnopqrstuvwxyz'
const shuffled = (at: number): string => {
  let [left, rest, members] = [letters, at * 7919, '']
  for (let nth = 0; nth < 8; nth += 1) {
    const from = rest % left.length
    rest = Math.floor(rest / left.length) + at
    members += `${nth === 0 ? '' : ','}"${left[from]}":1`
    left = left.slice(0, from) + left.slice(from + 1)
  }
  return `{${members}}`
}
const objectOf = (count: number): string =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [`name${at}`, 1])))
const names = Array.from({ length: 300_000 }, (_, at) => `"${at.toString(36)}":1`)

test.each([
  ['brackets', filled('[')],
  ['nested arrays', `${'['.repeat(MOST / 2)}${']'.repeat(MOST / 2)}`],
  ['empty arrays', listOf('[]')],
  ['empty objects', listOf('{}')],
  ['different names', `{${names.join(',')}}`],
  ['fractions', listOf('1.5')],
  ['long numbers', listOf('9007199254740993')],
  ['numbers with exponents', listOf('1e23')],
  ['different names of one simple hash', `{${upTo(2_000_000, (at) => `"${alike(at)}":1`)}}`],
  ['names in many orders', `[${upTo(3_900_000, shuffled)}]`],
  ['different short texts', `[${upTo(2_900_000, (at) => `"${at.toString(36)}"`)}]`],
  ['short texts with escapes', listOf('"\\n"')],
  ['objects of many names', listOf(objectOf(150))],
])('a body of four megabytes of %s is rejected before it is parsed', async (_what, text) => {
  await using app = await startApp(inject('redisPort'))

  expect(takesTooLong(Buffer.from(text))).toBe(true)
  const { status, json } = await app.call('POST', '/v1/feeds/f/messages', { body: `{"body":${text}}` })
  expect(status).toBe(400)
  expect(json).toMatchObject({
    code: 'invalid-argument',
    argument: 'body',
    detail: expect.stringContaining('holds more'),
  })
})

test.each([
  ['one text', `"${filled('x')}"`],
  ['one text of quotes', `"${filled('\\"')}"`],
  ['texts', listOf('"abcdefgh"')],
  ['wide records', listOf(objectOf(100))],
  ['records', listOf('{"id":12345678,"name":"abcdefghij, or so","on":true}')],
])('a body of four megabytes of %s is accepted', async (_what, text) => {
  await using app = await startApp(inject('redisPort'))

  const { status } = await app.call('POST', '/v1/feeds/f/messages', { body: `{"body":${text}}` })
  expect(status).toBe(201)
})

test('objects with a number for a name take several times as long as others', () => {
  const list = (part: string): Buffer => Buffer.from(`[${part.repeat(100_000)}1]`)
  expect(takesTooLong(list('{"abc":1},'))).toBe(false)
  expect(takesTooLong(list('{"999":1},'))).toBe(true)
  expect(takesTooLong(list('{"a":1,"999":1},'))).toBe(true)
})

test('a queue of /v2 rejects such a body, too', async () => {
  await using app = await startApp(inject('redisPort'), {
    limits: { maxMessagesPostSize: 4_000_000, maxWebhookBody: 16_000_000 },
  })

  const body = `{"messages":[{"body":[${'[],'.repeat(300_000)}1]}]}`
  const { status, json } = await app.call('POST', '/v2/queues/q/messages', { body })
  expect(status).toBe(400)
  expect(json.description).toContain('holds more')
})

test('metadata of a queue, and options of a subscription, are parsed repeatedly, and may have fewer names', async () => {
  await using app = await startApp(inject('redisPort'))
  const of = (count: number): object =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`name${at}`, at]))
  const subscribe = (options: object) =>
    app.call('POST', '/v2/queues/q/subscriptions', { body: { subscriber: 'http://8.8.8.8/', options } })

  expect((await app.call('PUT', '/v2/queues/few', { body: of(500) })).status).toBe(201)
  const many = await app.call('PUT', '/v2/queues/many', { body: of(3000) })
  expect([many.status, many.json.description]).toEqual([400, expect.stringContaining('Metadata holds more')])
  expect((await subscribe(of(500))).status).toBe(201)
  const options = await subscribe(of(3000))
  expect([options.status, options.json.description]).toEqual([400, expect.stringContaining('holds more')])
})
