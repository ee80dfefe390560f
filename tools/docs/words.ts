// Scripts answer in words, and docs/words.md has each of them.

import type { ShippedContract } from '../contract/contract.ts'
import { textOf } from './pages.ts'

const PAGE = 'docs/words.md'
const HEADING = '## Status words'

/** The answers that the page lacks, as `file problem`. */
export function checkWords(root: string): string[] {
  const { operations }: ShippedContract = JSON.parse(textOf(root, 'lua/contract.json'))
  const answers = Object.values(operations).flatMap((operation) => Object.keys(operation.answers))
  const page = textOf(root, PAGE)
  const section = page.slice(page.indexOf(HEADING))
  const listed = new Set([...section.matchAll(/`([^`]+)`/g)].map(([, word]) => word))
  return [...new Set(answers)]
    .filter((word) => !listed.has(word))
    .map((word) => `${PAGE} lacks '${word}' under its status words: a script answers so`)
}
