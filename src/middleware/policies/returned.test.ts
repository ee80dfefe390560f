import { expect, test } from 'vitest'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { returnedText, returnedTexts } from './returned.ts'

test.each([undefined, null, '', 7, Promise.resolve('ada')])('%s is rejected as a string', (value) => {
  expect(() => returnedText('subject', value)).toThrow(InvalidArgumentError)
  expect(() => returnedText('subject', value)).toThrow(
    'subject must return a string of at least one character',
  )
})

test('a string is accepted, and a list of strings', () => {
  expect(returnedText('key', 'a')).toBe('a')
  expect(returnedTexts('tags', [])).toEqual([])
  expect(() => returnedTexts('tags', undefined)).toThrow('tags must return a list of strings')
})
