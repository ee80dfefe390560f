// Results as tables for people, or as one JSON object a row.

export interface Row {
  readonly variant: string
  readonly [column: string]: string | number | boolean
}

export type Print = (title: string, rows: readonly Row[]) => void

/** `bench` names the bench in every row. */
export function printJson(bench: string): Print {
  return (title, rows) => {
    for (const row of rows) console.log(JSON.stringify({ bench, title, ...row }))
  }
}

export const printTable: Print = (title, rows) => {
  const columns = Object.keys(rows[0] ?? {}).filter((column) => column !== 'target')
  const lines = [columns, ...rows.map((row) => columns.map((column) => shown(row[column])))]
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => (line[at] ?? '').length)))
  console.log(`\n${title}`)
  for (const line of lines) console.log(`  ${line.map((cell, at) => padded(cell, at, widths)).join('  ')}`)
}

function padded(cell: string, at: number, widths: readonly number[]): string {
  const width = widths[at] ?? 0
  return at === 0 ? cell.padEnd(width) : cell.padStart(width)
}

/** A number with the digits that mean something; NaN as a dash. */
export function shown(value: Row[string] | undefined): string {
  if (typeof value !== 'number') return String(value ?? '')
  if (Number.isNaN(value)) return '–'
  return Math.abs(value) >= 1000 ? value.toFixed(0) : String(Number(value.toPrecision(3)))
}
