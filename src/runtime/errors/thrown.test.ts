import { describe, expect, test } from 'vitest'
import { ODD_THROWS } from '../../../test/odd-throws.ts'
import { DriverError, InvalidArgumentError, LeaseLostError } from './errors.ts'
import { isError } from './is-error.ts'
import { didNotHappen, isFinal, isOutage } from './outage.ts'
import { cut, messageOf, nameOf, stackOf, summaryOf } from './thrown.ts'

describe.each(Object.entries(ODD_THROWS))('a thrown value (%s)', (_, make) => {
  test('is described in words', () => {
    const thrown = make()

    for (const words of [messageOf(thrown), summaryOf(thrown), stackOf(thrown)]) {
      expect(typeof words).toBe('string')
      expect(words).not.toBe('')
    }
    // oxlint-disable-next-line no-control-regex -- the pattern must match control characters
    expect(nameOf(thrown)).not.toMatch(/[\u0000-\u001f]/)
  })

  test('is not one of our errors', () => {
    const thrown = make()

    expect([DriverError, InvalidArgumentError, LeaseLostError].some((type) => thrown instanceof type)).toBe(
      false,
    )
    expect([isOutage(thrown), isFinal(thrown), didNotHappen(thrown)]).toEqual([false, false, false])
    expect(typeof isError(thrown)).toBe('boolean')
  })
})

test('an error is described by its name, its message and its stack', () => {
  const error = new TypeError('of no use')

  expect(nameOf(error)).toBe('TypeError')
  expect(messageOf(error)).toBe('of no use')
  expect(summaryOf(error)).toBe('TypeError: of no use')
  expect(stackOf(error)).toBe(error.stack)
})

test('an error without a stack is described by name and message, one without a message by its name', () => {
  const error = Object.assign(new RangeError('of no use'), { stack: undefined })

  expect(stackOf(error)).toBe('RangeError: of no use')
  expect(summaryOf(new RangeError())).toBe('RangeError')
})

test('a value that is no error is described as it is', () => {
  expect(stackOf({ code: 42 })).toBe('{ code: 42 }')
  expect(stackOf('plain')).toBe('plain')
  expect(stackOf('')).toBe("''")
  expect(nameOf('plain')).toBe('')
})

test('a text is cut between two characters, and a lone surrogate is replaced', () => {
  expect(cut('aé😀', 7)).toBe('aé😀')
  expect(cut('aé😀', 6)).toBe('aé')
  expect(cut('aé😀', 2)).toBe('a')
  expect(cut('\ud800', 3)).toBe('�')
})
