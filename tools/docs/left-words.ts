// Words that the project has left for the field's own: they may not come back in docs, comments, messages, titles or
// names.

import { execFileSync } from 'node:child_process'
import { textOf } from './pages.ts'

interface LeftWord {
  readonly pattern: RegExp
  /** What to write instead. */
  readonly instead: string
  /** Files in which the word has another meaning, or belongs to stored data. */
  readonly allowed?: RegExp
}

/** This list, what is generated, and scripts of earlier releases. */
const NOT_OURS =
  /^(?:tools\/docs\/left-words\.ts|test\/docs\/readability\.test\.ts|test\/released\/|src\/generated\/|docs\/promises\.md$|docs\/scripts\/|lua\/contract\.json$|.*\.(?:svg|png|ico|rdb|lock)$|package-lock\.json$|LICENSE$)/

const LEFT: readonly LeftWord[] = [
  // An answer of counters/shown, which docs/words.md lists.
  {
    pattern: /\btold\b/gi,
    instead: 'reported, notified, returned',
    allowed: /^(?:docs\/words\.md|lua\/counters\/shown\.lua|test\/conformance\/counters\.json)$/,
  },
  { pattern: /\bwhoever\b/gi, instead: 'the caller, anyone who' },
  // An argument of counters/load.
  {
    pattern: /\banew\b/gi,
    instead: 'again, from the start',
    allowed: /^(?:lua|src)\/counters\/load\.|^test\/conformance\/counters\.json$/,
  },
  { pattern: /\b(?:no|some)body\b/gi, instead: 'no one, someone, or the agent itself' },
  { pattern: /\b(?:lend|lends|lent|lending)\b/gi, instead: 'detached' },
  // A town is called Bury, and beanstalkd buries jobs.
  {
    pattern: /\b(?:bury|buries|buried|burial)\b/gi,
    instead: 'fail, dead',
    allowed: /cities\.tsv$|^docs\/words\.md$/,
  },
]

/** The places of left words, as `file:line problem`. */
export function checkLeftWords(root: string, within = ''): string[] {
  return trackedFiles(root)
    .filter((file) => file.startsWith(within) && !NOT_OURS.test(file))
    .flatMap((file) => leftWordsIn(file, textOf(root, file)))
}

export function leftWordsIn(file: string, text: string): string[] {
  return LEFT.filter(({ allowed }) => allowed?.test(file) !== true).flatMap(({ pattern, instead }) =>
    [...text.matchAll(pattern)].map(({ index, 0: word }) => {
      const line = text.slice(0, index).split('\n').length
      return `${file}:${line} says '${word}': write ${instead}`
    }),
  )
}

function trackedFiles(root: string): string[] {
  return execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean)
}
