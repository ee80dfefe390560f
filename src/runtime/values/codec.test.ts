import { expect, test } from 'vitest'
import { json, jsonOf, text } from './codec.ts'

const itself: unknown[] = []
itself.push(itself)

test.each([
  ['a function', () => 1],
  ['nothing', undefined],
  ['a BigInt', { count: 1n }],
  ['what contains itself', itself],
])('%s is refused by the name of its argument', (_, value) => {
  const encode = (): unknown => jsonOf('result').encode(value)

  expect(encode).toThrow(
    expect.objectContaining({ name: 'InvalidArgumentError', argument: 'result' }) as Error,
  )
})

test('what a value throws when it is asked for its JSON is thrown on', () => {
  const own = new RangeError('not now')
  const value = {
    toJSON() {
      throw own
    },
  }

  expect(() => json().encode(value)).toThrow(own)
})

const HALF = String.fromCharCode(0xd800)

test.each([`a${HALF}b`, 1, null])('text that would come back as something else is refused: %o', (value) => {
  expect(() => text.encode(value as string)).toThrow(expect.objectContaining({ argument: 'text' }) as Error)
})

test('text comes back to the letter, and JSON keeps half a surrogate pair', () => {
  const said = 'naïve 🙂\n'
  expect(text.decode(Buffer.from(text.encode(said)))).toBe(said)
  const codec = json<string>()
  expect(codec.decode(Buffer.from(codec.encode(HALF)))).toBe(HALF)
})
