import { expect, test } from 'vitest'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { toldText, toldTexts } from './told.ts'

test.each([undefined, null, '', 7, Promise.resolve('ada')])('%s is no text', (told) => {
  expect(() => toldText('subject', told)).toThrow(InvalidArgumentError)
  expect(() => toldText('subject', told)).toThrow('subject must return a string of at least one character')
})

test('a text is, and a list of texts', () => {
  expect(toldText('key', 'a')).toBe('a')
  expect(toldTexts('tags', [])).toEqual([])
  expect(() => toldTexts('tags', undefined)).toThrow('tags must return a list of strings')
})
