// docs/proof/matrix.md: what ran where, and why what is red is red.

import type { Cell, Results } from './kept.ts'
import { KNOWN, type Known, whyRed } from './known.ts'
import type { ServerPin } from './server.ts'

/** Titles of one cell that the page and the terminal show. */
export const MOST_SHOWN = 10

export function pageOf(
  servers: readonly ServerPin[],
  suites: readonly string[],
  { cells, missing }: Results,
  known: readonly Known[] = KNOWN,
): string {
  const columns = ['server', 'package', ...suites]
  const ran = servers.flatMap(({ name }) => cells.filter(({ server }) => server === name))
  return [
    '# The servers',
    '',
    'Written by `npm run matrix -- --write-page`, which runs the tests on servers from Debian’s packages',
    '([how](../../CONTRIBUTING.md#the-matrix)). A cell has the number of tests that passed, and of those that failed twice.',
    '',
    `| ${columns.join(' | ')} |`,
    `| --- | --- |${suites.map(() => ' ---: |').join('')}`,
    ...servers.map((server) => rowOf(server, suites, cells)),
    '',
    ...missing.flatMap(({ server, reason }) => [`- **${server}** could not be had: ${reason}`]),
    ...movesIn(ran),
    ...section(
      'Red',
      ran.flatMap((cell) => redsOf(cell, known)),
    ),
    ...section('Failed once, and passed alone', ran.flatMap(unsteadyOf)),
    ...section('When', ran.map(whenOf)),
  ]
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
}

function rowOf({ name, suite }: ServerPin, suites: readonly string[], cells: readonly Cell[]): string {
  const own = cells.filter(({ server }) => server === name)
  const title = `${name.startsWith('valkey') ? 'Valkey' : 'Redis'} ${own[0]?.version ?? name.split('-')[1]}`
  const counts = suites.map((each) => countOf(own.find((cell) => cell.suite === each)))
  return `| ${[title, `${suite} (\`${name}\`)`, ...counts].join(' | ')} |`
}

function countOf(cell: Cell | undefined): string {
  if (cell === undefined) return 'not run'
  return cell.reds.length === 0 ? `${cell.passed}` : `${cell.passed}, **${cell.reds.length} red**`
}

function redsOf({ server, suite, reds }: Cell, known: readonly Known[]): string[] {
  const lines = reds.slice(0, MOST_SHOWN).map((red) => {
    return `- ${server}, ${suite}: ${shown(red)}. ${whyRed(red, server, known) ?? '**No one has explained it.**'}`
  })
  const more = reds.length - lines.length
  return more > 0 ? [...lines, `- ${server}, ${suite}: ${more} more`] : lines
}

function unsteadyOf({ server, suite, unsteady }: Cell): string[] {
  return unsteady.slice(0, MOST_SHOWN).map((title) => `- ${server}, ${suite}: ${shown(title)}`)
}

function movesIn(cells: readonly Cell[]): string[] {
  return [...new Set(cells.flatMap(({ server, moved }) => moved.map((move) => `- **${server}**: ${move}`)))]
}

function whenOf({ server, suite, date, commit, rows }: Cell): string {
  const of = rows === 'all' ? '' : ', some rows of large tables'
  return `- ${server}, ${suite}: ${date}, commit ${commit}${of}`
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `## ${title}`, '', ...lines, '']
}

/** Titles are quoted: they may have any character that means something in Markdown. */
function shown(title: string): string {
  return `\`${title.replaceAll('`', "'").replaceAll('\n', ' ')}\``
}
