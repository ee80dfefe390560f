import fc from 'fast-check'
import { expect, test } from 'vitest'
import { outlineOf } from './outline.ts'

const LONG = 'x'.repeat(100)

test('long values under the names are null, and everything else stays', () => {
  const sent = {
    messages: [
      { body: { body: LONG, list: [1, 2] }, ttl: '1s' },
      { body: 'short', key: LONG },
    ],
    other: [LONG, 'body', { name: 'body' }],
  }
  const outline = outlineOf(JSON.stringify(sent, null, 1), ['body', 'payload'])

  expect(JSON.parse(outline)).toEqual({
    ...sent,
    messages: [{ ...sent.messages[0], body: null }, sent.messages[1]],
  })
})

test('texts that look like a member are no member', () => {
  const sent = ['body', { a: '"body":[', b: `"body" : "${LONG}"` }, 'body']
  expect(JSON.parse(outlineOf(JSON.stringify(sent), ['body']))).toEqual(sent)
})

test('a document alone is left as it is', () => {
  expect(outlineOf(`"${LONG}"`, ['body'])).toBe(`"${LONG}"`)
})

test('for any JSON it is valid, and only values under the names differ', () => {
  const value = fc.jsonValue({ maxDepth: 6 })
  fc.assert(
    fc.property(fc.array(fc.record({ body: value, key: value })), fc.boolean(), (sent, spaced) => {
      const outline: unknown = JSON.parse(outlineOf(JSON.stringify(sent, null, spaced ? 2 : 0), ['body']))
      const wanted = JSON.parse(JSON.stringify(sent), (name, inner: unknown) => {
        return name === 'body' && JSON.stringify(inner, null, spaced ? 2 : 0).length > 64 ? null : inner
      }) as unknown
      const flat = (whole: unknown): unknown =>
        JSON.parse(JSON.stringify(whole), (name, inner: unknown) => (name === 'body' ? null : inner))
      expect(flat(outline)).toEqual(flat(wanted))
    }),
  )
})
