// Comments, indentation and empty lines are not sent, wherever they occur; text that only looks like them is sent.

import { expect, test } from 'vitest'
import { stripped } from '../../tools/contract/stripped.ts'

function sent(source: string): [line: number, text: string][] {
  const { source: text, lines } = stripped({ source, lines: [[1, 'a.lua', 1]] })
  return text.split('\n').map((line, at) => {
    const run = lines.findLast(([first]) => first <= at + 1)
    return [run === undefined ? 0 : run[2] + at + 1 - run[0], line]
  })
}

test('comments, indentation and empty lines are removed, and each line maps to its source line', () => {
  const source = [
    '--[[ A head',
    'of two lines. ]]',
    'local a = 1 -- one',
    '',
    '  -- Alone.',
    '  if a then --[==[ long',
    '  ]==] a = 2   ',
    '\tend',
  ]

  expect(sent(source.join('\n'))).toEqual([
    [3, 'local a = 1'],
    [6, 'if a then'],
    [7, 'a = 2'],
    [8, 'end'],
  ])
})

test('two words with a comment between them stay two words', () => {
  expect(sent('local--[[x]]a = 1')).toEqual([[1, 'local a = 1']])
})

test('strings stay unchanged to the byte, including empty lines and text that looks like a comment', () => {
  const text = [
    'local a = [[  ',
    '  -- no comment  ',
    '',
    '   ]] .. "--[[ neither" .. \'\\',
    "  it\\'s -- not'",
  ]

  expect(sent(`  ${text.join('\n')}  `).map(([, line]) => line)).toEqual(text)
})
