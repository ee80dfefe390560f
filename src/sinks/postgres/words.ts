// Tables and conditions in the syntax of PostgreSQL.

import type { Column, TargetPlace } from '../sql/dialect.ts'
import { name, nameOf } from '../sql/quoted-names.ts'

export function tableOf({ found: { schema, name: own } }: Pick<TargetPlace, 'found'>): string {
  return nameOf([schema, own])
}

/**
 * The operator of a type outside of the search path; without it, equality in the index would differ from that of text.
 */
export function equal({ type }: Column): string {
  const schema = /^(.*)\.citext$/.exec(type)?.[1]
  return schema === undefined ? '=' : `OPERATOR(${schema}.=)`
}

/** The count of a row of `alias` as text, if the row exists: NULL counts as 0. */
export function countOf({ id, value }: TargetPlace, alias: string): string {
  return `CASE WHEN ${alias}.${name(id)} IS NOT NULL THEN coalesce(${alias}.${name(value)}, 0)::text END`
}
