// Tables of keys, and what is taken from them.

import type { Expression, ForGenericStatement, TableKeyString } from 'luaparse'
import type { Binding } from './scope.ts'

/** The fields of a table that is written out with names alone: `{ jobs = jobs, leases = leases }`. */
export function namedFields({ init }: Binding): readonly TableKeyString[] {
  if (init?.type !== 'TableConstructorExpression') return []
  const named = init.fields.filter((field) => field.type === 'TableKeyString')
  return named.length === init.fields.length ? named : []
}

/** The table in `unpack(table, …)`, where a command takes any number of keys. */
export function unpacked(key: Expression, places: unknown): Expression | null {
  const variadic = typeof places === 'object' && places !== null && 'last' in places && places.last === -1
  if (!variadic || ('step' in places && places.step !== 1)) return null
  return callOf('unpack', key)
}

export function looped(loop: ForGenericStatement): Expression | null {
  const [iterator] = loop.iterators
  return iterator ? callOf('ipairs', iterator) : null
}

function callOf(name: string, value: Expression): Expression | null {
  const called =
    value.type === 'CallExpression' && value.base.type === 'Identifier' && value.base.name === name
  return called ? (value.arguments[0] ?? null) : null
}
