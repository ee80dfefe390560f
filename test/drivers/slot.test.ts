import { expect, test } from 'vitest'
import { slotOf } from '../../src/drivers/wire/slot.ts'

test('the slot is that of the tag, or of the whole key when the tag is missing or empty', () => {
  expect(slotOf('123456789')).toBe(0x31c3)
  expect(slotOf('a{foo}b')).toBe(slotOf('foo'))
  expect(slotOf('foo')).toBe(12_182)
  expect(slotOf('{}foo')).not.toBe(slotOf(''))
  expect(slotOf('a{b')).not.toBe(slotOf('b'))
  expect(slotOf('{{x}y}')).toBe(slotOf('{x'))
  expect(slotOf(Buffer.from('a{é}b'))).toBe(slotOf('é'))
  expect(slotOf('')).toBe(0)
})
