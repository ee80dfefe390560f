// Writes the tables of a bench into RESULTS.md, between `<!-- name -->` and `<!-- /name -->`.

import { readFileSync, writeFileSync } from 'node:fs'
import { condensed } from './condensed.ts'
import type { Row } from './print.ts'
import { shown } from './print.ts'
import type { Table } from './recorded.ts'

/** Throws when the file has no place for the bench. */
export function writeResults(
  file: URL,
  bench: string,
  about: Record<string, string | number>,
  tables: readonly Table[],
): void {
  const text = readFileSync(file, 'utf8')
  const [open, close] = [`<!-- ${bench} -->`, `<!-- /${bench} -->`]
  const [from, to] = [text.indexOf(open), text.indexOf(close)]
  if (from === -1 || to < from) throw new Error(`${file.pathname} has no place for ${bench}`)
  const measured = toResults(about, tables)
  writeFileSync(file, `${text.slice(0, from)}${open}\n\n${measured}\n\n${text.slice(to)}`)
}

/** What stands between the markers of a bench. */
export function toResults(about: Record<string, string | number>, tables: readonly Table[]): string {
  const { command, ...rest } = about
  const where = Object.entries(rest).map(([what, value]) => `${what} ${value}`)
  return [`\`${command}\`: ${where.join(', ')}.`, ...condensed(tables).map(toCompact)].join('\n\n')
}

/** As a list. */
export function toEnvironment(about: Record<string, string | number>): string {
  return Object.entries(about)
    .map(([what, value]) => `- ${what}: ${what === 'command' ? `\`${value}\`` : value}`)
    .join('\n')
}

/** A table under its title. */
export function toMarkdown({ title, rows }: Table): string {
  const columns = Object.keys(rows[0] ?? {}).filter((column) => column !== 'target')
  const align = columns.map((_, at) => (at === 0 ? '---' : '---:'))
  const lines = [columns, align, ...rows.map((row) => cells(row, columns))]
  return `**${title}**\n\n${lines.map((line) => `| ${line.join(' | ')} |`).join('\n')}`
}

/** The same without blanks around cells: the tables are most of RESULTS.md. */
function toCompact(table: Table): string {
  return toMarkdown(table)
    .replaceAll(/^\| | \|$/gm, '|')
    .replaceAll(' | ', '|')
}

function cells(row: Row, columns: readonly string[]): string[] {
  return columns.map((column) => shown(row[column]).replaceAll('|', '\\|'))
}
