// Finds the first error of a value. TypeBox checks the whole value for its errors, at a microsecond per element, and a
// body may have a million elements. So checks that stop at the first error narrow the value down, and TypeBox only gets
// the invalid part.

import type { TSchema } from '@fastify/type-provider-typebox'
import { Compile } from 'typebox/compile'

export type Validator = Pick<ReturnType<typeof Compile>, 'Check' | 'Errors'>
export type Finding = ReturnType<Validator['Errors']>[number]

/** The parts of a schema that are used here. */
interface Form {
  readonly anyOf?: readonly (TSchema & { readonly required?: readonly string[] })[]
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly patternProperties?: Readonly<Record<string, TSchema>>
  readonly items?: TSchema
  readonly pattern?: string
}
type Members = Readonly<Record<string, unknown>>

const ANYTHING = {}
/** More unknown names than any schema allows. */
const MOST_STRANGERS = 100

/** For a value that does not match the schema. */
export function firstError(schema: TSchema, value: unknown): Finding | undefined {
  return search(schema, value, '')
}

const validators = new WeakMap<object, Validator>()

export function validatorOf(schema: TSchema): Validator {
  const known = validators.get(schema) ?? Compile(schema)
  validators.set(schema, known)
  return known
}

/** `path`: a JSON pointer to the value. */
function search(schema: TSchema, value: unknown, path: string): Finding | undefined {
  const { anyOf, items }: Form = schema
  const branch = anyOf?.find(({ required = [] }) => hasAll(value, required)) ?? anyOf?.at(-1)
  if (branch !== undefined) return search(branch, value, path)
  if (Array.isArray(value)) return inElements(items, value, path) ?? itself(schema, value, path)
  return itself(schema, value, path) ?? inMembers(schema, value, path) ?? errorOf(schema, value, path)
}

function hasAll(value: unknown, names: readonly string[]): boolean {
  return isMembers(value) && names.every((name) => Object.hasOwn(value, name))
}

function inElements(
  schema: TSchema | undefined,
  list: readonly unknown[],
  path: string,
): Finding | undefined {
  if (schema === undefined) return undefined
  const validator = validatorOf(schema)
  const at = list.findIndex((element) => !validator.Check(element))
  return at === -1 ? undefined : search(schema, list[at], `${path}/${at}`)
}

function inMembers(schema: TSchema, value: unknown, path: string): Finding | undefined {
  if (!isMembers(value)) return undefined
  for (const [name, form] of formsOf(schema, value)) {
    if (!validatorOf(form).Check(value[name])) return search(form, value[name], `${path}/${written(name)}`)
  }
  return undefined
}

/** The members that the schema mentions. */
function formsOf({ properties = {}, patternProperties = {} }: Form, value: Members): [string, TSchema][] {
  const named = Object.entries(properties).filter(([name]) => Object.hasOwn(value, name))
  const alike = Object.entries(patternProperties).flatMap(([pattern, form]) => {
    const isMeant = new RegExp(pattern, 'u')
    return Object.keys(value).flatMap((name): [string, TSchema][] =>
      isMeant.test(name) ? [[name, form]] : [],
    )
  })
  return [...named, ...alike]
}

/** An error of the value itself, without its elements or members. */
function itself(schema: TSchema, value: unknown, path: string): Finding | undefined {
  return errorOf(shallow(schema), isMembers(value) ? withFewStrangers(schema, value) : value, path)
}

const shallows = new WeakMap<object, TSchema>()

function shallow(schema: TSchema): TSchema {
  const { items: _, properties, patternProperties, ...rest }: Form = schema
  const known = shallows.get(schema) ?? {
    ...rest,
    ...(properties === undefined ? {} : { properties: allowing(properties) }),
    ...(patternProperties === undefined ? {} : { patternProperties: allowing(patternProperties) }),
  }
  shallows.set(schema, known)
  return known
}

function allowing(forms: Readonly<Record<string, TSchema>>): Record<string, TSchema> {
  return Object.fromEntries(Object.keys(forms).map((name) => [name, ANYTHING]))
}

/** Keeps only a few of the members that the schema does not name: there may be any number. */
function withFewStrangers({ properties = {} }: Form, value: Members): Members {
  const known = Object.keys(properties).filter((name) => Object.hasOwn(value, name))
  const strangers = Object.keys(value).filter((name) => !Object.hasOwn(properties, name))
  const names = [...known, ...strangers.slice(0, MOST_STRANGERS)]
  return Object.fromEntries(names.map((name) => [name, value[name]]))
}

function errorOf(schema: TSchema, value: unknown, path: string): Finding | undefined {
  const found = validatorOf(schema).Errors(value)[0]
  if (found === undefined) return undefined
  const { pattern }: Form = schema
  const instancePath = path + found.instancePath
  // Its pattern says more than "must be string": a duration looks like '30s'.
  if (found.keyword === 'type' && pattern !== undefined)
    return {
      keyword: 'pattern',
      instancePath,
      schemaPath: found.schemaPath,
      params: { pattern },
      message: found.message,
    }
  return { ...found, instancePath }
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** In the form of a part of a JSON pointer. */
function written(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
