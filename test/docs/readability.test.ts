// The pages stay readable: sentences are short, and name who acts.

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pagesIn, textOf } from '../../tools/docs/pages.ts'
import { leftWordsIn } from '../../tools/docs/left-words.ts'
import { median, percentile } from '../../tools/measure/lines.ts'
import { sentencesOf } from '../../tools/measure/readability.ts'

const ROOT = join(import.meta.dirname, '../..')
const sentences = pagesIn(ROOT).flatMap((page) => sentencesOf(textOf(ROOT, page)))

test('half of the sentences of all pages have at most 18 words, 95 % at most 35', () => {
  const words = sentences.map((each) => each.words)

  expect(words.length).toBeGreaterThan(3000)
  expect(median(words)).toBeLessThanOrEqual(18)
  expect(percentile(words, 95)).toBeLessThanOrEqual(35)
})

test('fewer than a twentieth of the sentences name no agent', () => {
  const agentless = sentences.filter((each) => each.agentless)

  expect(agentless.length / sentences.length).toBeLessThan(0.05)
})

test('a sentence is measured without its code, and with the agent that it names', () => {
  const page =
    '# Head\n\nThe server ends `a.b(c)` now. The lease is ended. It is ended by the server.\n\n| a | b |\n| - | - |\n| The server ends it now | x |\n'

  expect(sentencesOf(page).map(({ words, agentless }) => [words, agentless])).toEqual([
    [5, false],
    [4, true],
    [6, true],
  ])
})

test('a left word is reported with its line, and what to write instead', () => {
  expect(leftWordsIn('docs/a.md', 'One line.\nNobody is here.')).toEqual([
    "docs/a.md:2 says 'Nobody': write no one, someone, or the agent itself",
  ])
})
