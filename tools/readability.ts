// `npx tsx tools/readability.ts [page …]`: how hard the pages are to read; --worst also prints the longest sentences of each.

import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { pagesIn, textOf } from './docs/pages.ts'
import { readingEase, type Sentence, sentencesOf } from './measure/readability.ts'
import { median, percentile } from './measure/lines.ts'

const { values, positionals } = parseArgs({ allowPositionals: true, options: { worst: { type: 'boolean' } } })
const root = join(import.meta.dirname, '..')
const pages = positionals.length > 0 ? positionals : pagesIn(root)
const all: Sentence[] = []

console.log('| page | words | sentences | median | 95 % | no agent | reading ease |')
console.log('| --- | ---: | ---: | ---: | ---: | ---: | ---: |')
for (const page of pages) {
  const sentences = sentencesOf(textOf(root, page))
  if (sentences.length === 0) continue
  all.push(...sentences)
  console.log(rowOf(page, sentences))
  if (values.worst) printWorst(sentences)
}
console.log(rowOf('all', all))

function rowOf(page: string, sentences: readonly Sentence[]): string {
  const words = sentences.map((each) => each.words)
  const total = words.reduce((sum, each) => sum + each, 0)
  const agentless = sentences.filter((each) => each.agentless).length / sentences.length
  const cells = [
    page,
    total,
    sentences.length,
    median(words),
    percentile(words, 95),
    `${Math.round(agentless * 100)} %`,
    Math.round(readingEase(sentences)),
  ]
  return `| ${cells.join(' | ')} |`
}

function printWorst(sentences: readonly Sentence[]): void {
  const longest = sentences
    .filter(({ words }) => words > 35)
    .toSorted((one, other) => other.words - one.words)
  for (const { words, text } of longest) console.log(`  ${words} words: ${text}`)
  for (const { text, agentless } of sentences) if (agentless) console.log(`  no agent: ${text}`)
}
