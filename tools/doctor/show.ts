// The report for people: a table as wide as the terminal, and a summary.

import { styleText } from 'node:util'
import Table from 'cli-table3'
import type { State } from './finding.ts'
import type { CheckReport, Report } from './report.ts'
import { count } from './words.ts'

const NARROWEST = 60
const WIDEST = 110
const STATE_WIDTH = 8
const TITLE_WIDTH = 18

const COLOURS = { ok: 'green', warn: 'yellow', fail: 'red', unknown: 'magenta' } as const

const NO_LINES = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '',
}

export function show(report: Report, columns: number, colour: boolean): string {
  const width = Math.min(WIDEST, Math.max(NARROWEST, columns))
  const paint = (style: Parameters<typeof styleText>[0], text: string): string =>
    colour ? styleText(style, text, { validateStream: false }) : text
  const reached = report.servers.length > 0
  // Without a server, nothing but the connection is worth a line.
  const shown = report.checks.filter(({ state, id }) => reached || state === 'fail' || id === 'reach')
  const table = new Table({
    chars: NO_LINES,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 1 },
    colWidths: [STATE_WIDTH, TITLE_WIDTH, width - STATE_WIDTH - TITLE_WIDTH],
    wordWrap: true,
  })
  for (const check of shown) {
    const state = paint(COLOURS[check.state], check.ignored ? 'ignored' : check.state)
    table.push([state, paint('bold', check.title), textOf(check)])
  }
  const skipped = report.checks.length - shown.length
  const rows = table.toString().split('\n')
  return [
    paint('bold', `Perilune ${report.version} at ${report.url}`),
    '',
    ...rows.map((row) => row.trimEnd()),
    ...(skipped > 0 && !reached
      ? ['', `${count(skipped, 'check')} did not run, because no server was reached.`]
      : []),
    '',
    summary(report, paint),
  ].join('\n')
}

function textOf({ why, mend, state }: CheckReport): string {
  return mend === null || state === 'ok' ? why : `${why}\nMend: ${mend}`
}

function summary(
  { checks, exitCode, servers }: Report,
  paint: (style: 'bold', text: string) => string,
): string {
  const counted = checks.filter(
    ({ ignored, state, id }) => !ignored && (servers.length > 0 || state === 'fail' || id === 'reach'),
  )
  const number = (state: State): number => counted.filter((check) => check.state === state).length
  const parts = [
    `${number('ok')} ok`,
    count(number('warn'), 'warning'),
    count(number('fail'), 'failure'),
    `${number('unknown')} unknown`,
  ]
  return paint('bold', `${parts.join(', ')}; exit code ${exitCode}`)
}
