import { expect, test } from 'vitest'
import { anchorsOf, blocksOf, headingsOf, linksOf } from '../../tools/docs/pages.ts'

const PAGE = `# Feed, in short

See [the words](words.md#things), not \`[this](code.md)\`.

## What it is

\`\`\`ts run
const page = '[no](link.md)'
# no heading
\`\`\`

## What it is
`

test('a link is found outside of code only, with its line', () => {
  expect(linksOf(PAGE)).toEqual([{ line: 3, target: 'words.md#things' }])
})

test('a block has its kind and the line on which it begins', () => {
  expect(blocksOf(PAGE)).toEqual([
    { info: 'ts run', line: 8, text: "const page = '[no](link.md)'\n# no heading\n" },
  ])
})

test('a heading inside a block is no heading', () => {
  expect(headingsOf(PAGE).map(({ text }) => text)).toEqual(['Feed, in short', 'What it is', 'What it is'])
})

test('anchors are headings without punctuation, and a second one of a name is numbered', () => {
  expect([...anchorsOf(PAGE)]).toEqual(['feed-in-short', 'what-it-is', 'what-it-is-1'])
})
