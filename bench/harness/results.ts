// Writes what benches have measured into RESULTS.md, between `<!-- name -->` and `<!-- /name -->`.

import { readFileSync, writeFileSync } from 'node:fs'
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
  const measured = [toEnvironment(about), ...tables.map(toMarkdown)].join('\n\n')
  writeFileSync(file, `${text.slice(0, from)}${open}\n\n${measured}\n\n${text.slice(to)}`)
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

function cells(row: Row, columns: readonly string[]): string[] {
  return columns.map((column) => shown(row[column]).replaceAll('|', '\\|'))
}
