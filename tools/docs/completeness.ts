// A structure is the same word in lua, docs, examples, conformance and the README; a decision fits on a
// screen; the pages of structures have the same headings; no page is too long.

import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { headingsOf, pagesIn, textOf } from './pages.ts'

// Structures that only our own service uses: no page, no example, no promise to users.
export const INTERNAL: ReadonlySet<string> = new Set(['catalog'])
const DECISION_LINES = 40
const PAGE_LINES = 600
const HEADINGS = [
  'Use it when',
  'Do not use it when',
  'Start',
  'What is promised',
  'What is not promised',
  'Options',
  'Answers',
  'In Redis',
  'When things go wrong',
  'REST',
  'Python',
]

/** What is missing, as `file problem`. */
export function checkCompleteness(root: string): string[] {
  return [
    ...structuresIn(root).flatMap((name) => missingOf(root, name)),
    ...checkDecisions(root),
    ...checkLengths(root),
  ]
}

function structuresIn(root: string): string[] {
  return readdirSync(join(root, 'lua'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'shared')
    .map(({ name }) => name)
}

function missingOf(root: string, structure: string): string[] {
  const vectors = `test/conformance/${structure}.json`
  const page = `docs/structures/${structure}.md`
  const example = `examples/${structure}/README.md`
  const wanted = INTERNAL.has(structure) ? [vectors] : [vectors, page, example]
  const missing = wanted.filter((path) => !existsSync(join(root, path)))
  return [
    ...missing.map((path) => `${path} is missing: lua/${structure} exists`),
    ...(INTERNAL.has(structure) ? [] : checkMention(root, page)),
    ...(missing.includes(page) || INTERNAL.has(structure) ? [] : checkHeadings(root, page)),
  ]
}

function checkMention(root: string, page: string): string[] {
  return textOf(root, 'README.md').includes(`(${page})`) ? [] : [`README.md has no line that links ${page}`]
}

function checkHeadings(root: string, page: string): string[] {
  const found = headingsOf(textOf(root, page))
    .filter(({ rank }) => rank === 2)
    .map(({ text }) => text)
  return found.join('\n') === HEADINGS.join('\n')
    ? []
    : [`${page} must have the headings ${HEADINGS.join(', ')}`]
}

function checkDecisions(root: string): string[] {
  return pagesIn(root, 'docs/decisions').flatMap((path) => {
    const lines = textOf(root, path).trimEnd().split('\n').length
    return lines > DECISION_LINES ? [`${path} has ${lines} lines, over ${DECISION_LINES}`] : []
  })
}

function checkLengths(root: string): string[] {
  return pagesIn(root, 'docs').flatMap((path) => {
    const lines = textOf(root, path).trimEnd().split('\n').length
    return lines > PAGE_LINES ? [`${path} has ${lines} lines, over ${PAGE_LINES}`] : []
  })
}
