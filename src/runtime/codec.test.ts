import { describe, expect, test } from 'vitest'
import { json, text } from './codec.ts'

const HALF = String.fromCharCode(0xd800)

describe('json', () => {
  const circle: { self?: unknown } = {}
  circle.self = circle
  const odd = {
    toJSON() {
      throw new Error('not today')
    },
  }

  test.each([
    ['a bigint', 1n, /BigInt/],
    ['a circle', circle, /circular/],
    ['nothing', undefined, /JSON can hold$/],
    ['a function', () => 1, /JSON can hold$/],
    ['what refuses', odd, /not today/],
  ])('refuses %s, and says why', (_, value, why) => {
    expect(() => json().encode(value)).toThrow(why)
    expect(() => json().encode(value)).toThrow(expect.objectContaining({ code: 'invalid-argument' }))
  })

  test('keeps half a surrogate pair', () => {
    const codec = json<string>()
    expect(codec.decode(Buffer.from(codec.encode(`a${HALF}b`)))).toBe(`a${HALF}b`)
  })
})

describe('text', () => {
  test.each([`a${HALF}b`, 1, null])('refuses what would come back as something else: %o', (value) => {
    expect(() => text.encode(value as string)).toThrow(expect.objectContaining({ argument: 'text' }))
  })

  test('comes back to the letter', () => {
    const said = 'naïve 🙂\n'
    expect(text.decode(Buffer.from(text.encode(said)))).toBe(said)
  })
})
