import { expect, test } from 'vitest'
import { fold, foldPlain, markWords } from '../../src/autocomplete/fold.ts'
import { readFolding } from './files.ts'

test.each(readFolding().texts)('$text is folded to $folded', ({ text, folded, words }) => {
  expect(fold(text)).toBe(folded)
  expect(fold(folded)).toBe(folded)
  expect([null, folded]).toContain(foldPlain(text, 512))
  expect(markWords(folded).split('\u0001')).toEqual(words)
})

test.each([
  ['New York', 'new york'],
  ['@jo', '@jo'],
  ['a  b', null],
  [' a', null],
  ['a ', null],
  ['a\tb', null],
  ['é', null],
  ['', null],
  ['x'.repeat(513), null],
  [7, null],
])('%j is folded to %j on the fast path, or as any other text', (text, folded) => {
  expect(foldPlain(text, 512)).toBe(folded)
})
