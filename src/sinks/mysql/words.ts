// Names and text in the syntax of MySQL and MariaDB.

import { type Column, type FoundTable, quote, quoteTable, type Statement } from '../sql/dialect.ts'

export function plain(sql: string): Statement {
  return { sql, values: [] }
}

export function name(of: string): string {
  return quote(of, '`')
}

export function inSchema(schema: string, table: string): string {
  return quoteTable([schema, table], '`')
}

export function tableOf({ found }: { readonly found: FoundTable }): string {
  return inSchema(found.schema, found.name)
}

export function text(of: string): string {
  return `_utf8mb4 ${of === '' ? "''" : `0x${Buffer.from(of).toString('hex')}`}`
}

/** The id as people write it, without the zeros of a ZEROFILL, in a collation where it only equals itself. */
export function asText(id: string, column: Column): string {
  const plainly = isInteger(column) ? `CAST(${id} + 0 AS CHAR)` : id
  return exactly(plainly)
}

export function exactly(of: string): string {
  return `CONVERT(${of} USING utf8mb4) COLLATE utf8mb4_bin`
}

/**
 * The bytes of the id, whatever the character set of the connection: a missing character would arrive as `?`, which is
 * another id.
 */
export function hexOf(of: string): string {
  return `HEX(${of})`
}

export function isInteger({ type }: Column): boolean {
  return bitsOf(type) !== undefined
}

const BITS: Readonly<Record<string, bigint>> = {
  tinyint: 8n,
  smallint: 16n,
  mediumint: 24n,
  int: 32n,
  bigint: 64n,
}

export function bitsOf(type: string): bigint | undefined {
  return BITS[/^[a-z]+/i.exec(type)?.[0].toLowerCase() ?? '']
}
