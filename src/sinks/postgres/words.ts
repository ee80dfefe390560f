// Tables and conditions as PostgreSQL writes them.

import type { Column, TargetPlace } from '../sql/dialect.ts'
import { name, nameOf } from '../sql/quoted-names.ts'

export function tableOf({ found: { schema, name: own } }: Pick<TargetPlace, 'found'>): string {
  return nameOf([schema, own])
}

/** The operator of a type that is in no schema of the search path, or what is equal to the index would differ as text. */
export function equal({ type }: Column): string {
  const schema = /^(.*)\.citext$/.exec(type)?.[1]
  return schema === undefined ? '=' : `OPERATOR(${schema}.=)`
}

/** The count of a row of `alias` as text, where there is one: NULL counts as 0. */
export function countOf({ id, value }: TargetPlace, alias: string): string {
  return `CASE WHEN ${alias}.${name(id)} IS NOT NULL THEN coalesce(${alias}.${name(value)}, 0)::text END`
}
