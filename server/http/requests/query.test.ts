import { describe, expect, test } from 'vitest'
import { compileSchema } from '../../v1/api/validation.ts'
import { listOf, parseQuery, textOf } from './query.ts'

describe('a query of the native API', () => {
  const properties = { limit: { type: 'integer' }, after: { type: 'string' } }
  const schema = { type: 'object', properties, additionalProperties: false }
  const read = compileSchema({ schema, httpPart: 'querystring' } as never)
  const asked = (text: string): unknown => {
    try {
      const result = read(parseQuery(text)) as { value?: unknown; error?: Error }
      return result.value ?? result.error?.message
    } catch (error) {
      return (error as Error).message
    }
  }

  test.each(['unknown=', 'unknown', 'unknown=1', 'limit=1&unknown=', '__proto__='])(
    '%s is rejected as unknown',
    (text) => {
      expect(asked(text)).toMatch(/^(?:unknown|__proto__) is not known here$/)
    },
  )

  test.each(['limit=&limit=5', 'limit=5&limit=', 'limit&limit', 'limit=1&limit=2', 'limit=&l%69mit='])(
    '%s is rejected as given twice',
    (text) => {
      expect(asked(text)).toBe('limit must be given once')
    },
  )

  test('a parameter without a value is treated as missing', () => {
    expect(asked('limit=&after')).toEqual({})
    expect(asked('&limit=5&&after=a%20b&')).toEqual({ limit: 5, after: 'a b' })
  })
})

test('a query of /v2 has no empty values, and the last one is used', () => {
  const query = parseQuery('limit=5&limit=&ids=&ids=a,b%2Cc&ids=d&echo&none=')

  expect(textOf(query, 'limit')).toBe('5')
  expect(listOf(query, 'ids')).toEqual(['a', 'b,c', 'd'])
  expect(['echo', 'none', 'other'].map((name) => textOf(query, name))).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  expect(listOf(query, 'none')).toBeUndefined()
})
