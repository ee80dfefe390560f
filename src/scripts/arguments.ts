// Checks the arguments of generated modules before anything is sent: at run time there are no types, and a missing
// argument would reach the script as the text `undefined`.

import { checkOptions, isBytes } from '../runtime/values/arguments.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import type { Operation } from '../runtime/calls/operation.ts'

/** The types of values, as the heads of scripts name them. */
export type FieldType = 'integer' | 'number' | 'big' | 'text' | 'bytes' | 'flag'

/** In brackets: the type of each item of a repeated argument, which is a plain value or a record. */
export type ArgumentType =
  | FieldType
  | readonly [FieldType]
  | readonly [{ readonly [field: string]: FieldType }]

export interface ArgumentTypes {
  readonly [argument: string]: ArgumentType
}

/** One operation as a generated module describes it. */
export interface ScriptOperation<Arguments, Answer> extends Operation<Required<Arguments>, Answer> {
  /** The arguments that a caller passes; call ids are added by the library. */
  readonly takes: ArgumentTypes
  /** The values of omitted arguments. */
  readonly defaults: { readonly [argument: string]: number | boolean }
}

type Takes = Pick<ScriptOperation<never, unknown>, 'takes' | 'defaults'>

/** The arguments, with defaults for omitted ones. Throws InvalidArgumentError. */
export function completed({ takes, defaults }: Takes, args: object): object {
  checkOptions('arguments', args, Object.keys(takes))
  const given = Object.entries(args).filter(([, value]) => value !== undefined)
  const all: { readonly [argument: string]: unknown } = { ...defaults, ...Object.fromEntries(given) }
  const checked = Object.entries(takes).map(([name, type]) => [name, check(name, all[name], type)] as const)
  return { ...all, ...Object.fromEntries(checked) }
}

function check(name: string, value: unknown, type: ArgumentType): unknown {
  if (typeof type === 'string') return checkField(name, value, type)
  if (!Array.isArray(value)) throw new InvalidArgumentError(name, 'must be an array')
  return Array.from(value.entries(), ([at, item]) => checkItem(`${name}[${at}]`, item, type[0]))
}

function checkItem(
  name: string,
  item: unknown,
  type: FieldType | { readonly [field: string]: FieldType },
): unknown {
  if (typeof type === 'string') return checkField(name, item, type)
  checkOptions(name, item, Object.keys(type))
  const fields: { readonly [field: string]: unknown } = Object(item)
  const checked = Object.entries(type).map(
    ([field, fieldType]) => [field, checkField(`${name}.${field}`, fields[field], fieldType)] as const,
  )
  return Object.fromEntries(checked)
}

const CHECKS: Record<FieldType, readonly [wanted: string, holds: (value: unknown) => boolean]> = {
  integer: ['a whole number below 2^53', Number.isSafeInteger],
  number: ['a number', Number.isFinite],
  big: ['a bigint', (value) => typeof value === 'bigint'],
  text: [
    'a string of valid Unicode',
    (value) => typeof value === 'string' && !/[\ud800-\udfff]/u.test(value),
  ],
  bytes: ['a string or bytes', (value) => typeof value === 'string' || isBytes(value)],
  flag: ['true or false', (value) => typeof value === 'boolean'],
}

/** Bytes are copied: the caller may write into them before they are sent. */
function checkField(name: string, value: unknown, type: FieldType): unknown {
  const [wanted, holds] = CHECKS[type]
  if (!holds(value)) throw new InvalidArgumentError(name, `must be ${wanted}`)
  return isBytes(value) ? Buffer.from(value) : value
}
