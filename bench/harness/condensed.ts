// The tables of a bench as RESULTS.md shows them: all goals in one table, and in one table those that differ only in
// numbers. What has the same value in every row goes into the title, and what follows from another column is left out.

import { type Row, shown } from './print.ts'
import type { Table } from './recorded.ts'

const GOALS = 'goals'
const NUMBER = /\d[\d,]*(?:\.\d+)?/g
const LETTERS = ['N', 'M', 'K']
/** Of `serverUs`. */
const DERIVED = 'serverRatio'

/** The goals first, if the bench has some; then what was measured, in the order of the first table of each kind. */
export function condensed(tables: readonly Table[]): Table[] {
  const judged = tables.filter(isJudged)
  const measured = tables.filter((table) => !isJudged(table))
  const goals = judged.length === 0 ? [] : [{ title: GOALS, rows: judged.flatMap(goalsOf) }]
  const kinds = new Set(measured.map(kindOf))
  const merged = [...kinds].map((kind) => merge(measured.filter((table) => kindOf(table) === kind)))
  return [...goals, ...merged.map(withoutRepeated)]
}

function isJudged({ rows }: Table): boolean {
  return rows[0] !== undefined && 'met' in rows[0]
}

/** One row where all values are the same. */
function goalsOf({ title, rows }: Table): Row[] {
  const [first] = rows
  const same = rows.length > 1 && rows.every(({ value }) => value === first?.['value'])
  const judged = same && first !== undefined ? [{ ...first, variant: `all ${rows.length}` }] : rows
  return judged.map(({ variant, value, goal, met }, at) => ({
    goal: at === 0 ? title : '',
    variant,
    value: value ?? '',
    limit: goal ?? '',
    met: met === true ? 'yes' : '**no**',
  }))
}

/** Tables of one kind have the same columns, and the same title but for its numbers. */
function kindOf({ title, rows }: Table): string {
  return [title.replaceAll(NUMBER, '#'), ...Object.keys(rows[0] ?? {})].join('|')
}

function merge(tables: readonly Table[]): Table {
  const [first] = tables
  if (first === undefined || tables.length === 1) return first ?? { title: '', rows: [] }
  const numbers = tables.map(({ title }) => title.match(NUMBER) ?? [])
  const letters = lettersOf(numbers)
  return {
    title: withLetters(first.title, letters),
    rows: tables.flatMap(({ rows }, at) =>
      rows.map((row) => ({ ...numbersOf(numbers[at] ?? [], letters), ...row })),
    ),
  }
}

/** For each number of the titles a letter, where it is not the same in all; else null. */
function lettersOf(numbers: readonly (readonly string[])[]): (string | null)[] {
  const letters = LETTERS.values()
  return (numbers[0] ?? []).map((number, at) =>
    numbers.every((each) => each[at] === number) ? null : (letters.next().value ?? '…'),
  )
}

function withLetters(title: string, letters: readonly (string | null)[]): string {
  const left = letters.values()
  return title.replaceAll(NUMBER, (number) => left.next().value ?? number)
}

function numbersOf(numbers: readonly string[], letters: readonly (string | null)[]): Record<string, string> {
  return Object.fromEntries(
    letters.flatMap((letter, at) => (letter === null ? [] : [[letter, numbers[at] ?? '']])),
  )
}

function withoutRepeated({ title, rows }: Table): Table {
  const [first] = rows
  if (first === undefined || rows.length < 2) return { title, rows }
  const same = Object.keys(first).filter(
    (column) => column !== 'variant' && rows.every((row) => shown(row[column]) === shown(first[column])),
  )
  const repeated = same.map((column) => `${column} ${shown(first[column])}`)
  const left = rows.map((row) => without(row, [...same, DERIVED]))
  return { title: repeated.length === 0 ? title : `${title}; in all rows ${repeated.join(', ')}`, rows: left }
}

function without(row: Row, columns: readonly string[]): Row {
  const left = Object.entries(row).filter(([column]) => !columns.includes(column))
  return Object.fromEntries(left) as Row
}
