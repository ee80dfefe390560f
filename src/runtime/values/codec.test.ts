import { expect, test } from 'vitest'
import { json, jsonOf, text } from './codec.ts'

const itself: unknown[] = []
itself.push(itself)

test.each([
  ['a function', () => 1],
  ['nothing', undefined],
  ['a BigInt', { count: 1n }],
  ['a value with a cycle', itself],
])('%s is rejected with the name of its argument', (_, value) => {
  const encode = (): unknown => jsonOf('result').encode(value)

  expect(encode).toThrow(
    expect.objectContaining({ name: 'InvalidArgumentError', argument: 'result' }) as Error,
  )
})

test('an error thrown by toJSON is passed on', () => {
  const own = new RangeError('not now')
  const value = {
    toJSON() {
      throw own
    },
  }

  expect(() => json().encode(value)).toThrow(own)
})

const HALF = String.fromCharCode(0xd800)

test.each([`a${HALF}b`, 1, null])('text that would be returned changed is rejected: %o', (value) => {
  expect(() => text.encode(value as string)).toThrow(expect.objectContaining({ argument: 'text' }) as Error)
})

test('text is returned unchanged, and JSON keeps a lone surrogate', () => {
  const said = 'naïve 🙂\n'
  expect(text.decode(Buffer.from(text.encode(said)))).toBe(said)
  const codec = json<string>()
  expect(codec.decode(Buffer.from(codec.encode(HALF)))).toBe(HALF)
})
