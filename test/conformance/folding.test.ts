import { expect, test } from 'vitest'
import { fold, markWords } from '../../src/autocomplete/folding.ts'
import { readFolding } from './files.ts'

test.each(readFolding().texts)('$text is folded to $folded', ({ text, folded, words }) => {
  expect(fold(text)).toBe(folded)
  expect(fold(folded)).toBe(folded)
  expect(markWords(folded).split('\u0001')).toEqual(words)
})
