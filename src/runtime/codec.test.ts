import { expect, test } from 'vitest'
import { json, jsonOf } from './codec.ts'

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
