// Names in `"`, as PostgreSQL and SQLite use them: of columns, of tables, and of Perilune's tables.

import { quote, quoteTable, type TableName } from './dialect.ts'

export function name(plain: string): string {
  return quote(plain, '"')
}

export function nameOf(table: TableName): string {
  return quoteTable(table, '"')
}

export function ledgerIn(schema: string): string {
  return nameOf([schema, 'perilune_ledger'])
}

export function refusedIn(schema: string): string {
  return nameOf([schema, 'perilune_refused'])
}

export function cursorIn(schema: string): string {
  return nameOf([schema, 'perilune_cursor'])
}

export function outboxIn(schema: string): string {
  return nameOf([schema, 'perilune_outbox'])
}
