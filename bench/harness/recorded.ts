// What a bench has printed, kept for charts and for RESULTS.md.

import type { Print, Row } from './print.ts'

export interface Table {
  readonly title: string
  readonly rows: readonly Row[]
}

/** Prints, and puts what is printed into `tables` too. */
export function recording(print: Print, tables: Table[]): Print {
  return (title, rows) => {
    tables.push({ title, rows })
    print(title, rows)
  }
}

/** The rows printed under a title that begins so; none when there is no such title. */
export function rowsOf(tables: readonly Table[], title: string): readonly Row[] {
  return tables.find((table) => table.title.startsWith(title))?.rows ?? []
}
