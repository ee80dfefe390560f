// Requests against their schemas. Nothing is guessed: what is not known is refused, by its name.

import type { TSchema } from '@fastify/type-provider-typebox'
import type { FastifySchemaCompiler } from 'fastify'
import { InvalidArgumentError } from 'perilune'
import { Compile } from 'typebox/compile'
import { type Query, textOf } from '../zaqar/query.ts'
import { patternWords } from './arguments.ts'

type Validator = Pick<ReturnType<typeof Compile>, 'Check' | 'Errors'>
type Finding = ReturnType<Validator['Errors']>[number]
type Properties = Readonly<Record<string, { readonly type?: string }>>

/** Lists of what is more than a value have no more. */
const MOST_ELEMENTS = 1000

interface Branch {
  readonly required: readonly string[]
  readonly validator: Validator
}

export const compileSchema: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const whole: Validator = Compile(schema)
  const branches = branchesOf(schema)
  return (data: unknown) => {
    const value = httpPart === 'querystring' ? readQuery(schema, data as Query) : (data ?? {})
    if (whole.Check(value)) return { value }
    const meant = branches.find(({ required }) => hasAll(value, required)) ?? branches.at(-1)
    return { error: explain(firstError(meant?.validator ?? whole, value)) }
  }
}

/** All elements are looked at for errors, wrong or not, and of them the first is told: mostly it is among as many as a list may have. */
function firstError(validator: Validator, value: unknown): Finding | undefined {
  return validator.Errors(withShortLists(value))[0] ?? validator.Errors(value)[0]
}

function withShortLists(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const shortened = Object.entries(value).map(([name, part]: [string, unknown]) => [
    name,
    Array.isArray(part) ? part.slice(0, MOST_ELEMENTS + 1) : part,
  ])
  return Object.fromEntries(shortened)
}

/** The forms that a value may have, each with what tells it from the others. */
function branchesOf(schema: object): Branch[] {
  if (!('anyOf' in schema)) return []
  return (schema.anyOf as (TSchema & { required: string[] })[]).map((form) => ({
    required: form.required,
    validator: Compile(form),
  }))
}

function hasAll(value: unknown, names: readonly string[]): boolean {
  return typeof value === 'object' && value !== null && names.every((name) => Object.hasOwn(value, name))
}

/** A query's texts as the values that the schema wants. */
function readQuery(schema: object, query: Query): Record<string, unknown> {
  const properties = 'properties' in schema ? (schema.properties as Properties) : {}
  const entries = Object.entries(query).map(([name, texts]) => {
    if (texts.length > 1) throw new InvalidArgumentError(name, 'must be given once')
    return [name, toValue(textOf(query, name) ?? '', properties[name]?.type)] as const
  })
  return Object.fromEntries(entries)
}

function toValue(text: string, type: string | undefined): unknown {
  if (type === 'integer' && /^\d{1,15}$/.test(text)) return Number(text)
  return type === 'boolean' && /^(?:true|false)$/.test(text) ? text === 'true' : text
}

function explain(finding: Finding | undefined): InvalidArgumentError {
  if (finding === undefined) return new InvalidArgumentError('request', 'is not valid')
  const argument = pathOf(finding.instancePath)
  switch (finding.keyword) {
    case 'required':
      return new InvalidArgumentError(
        join(argument, finding.params.requiredProperties[0] ?? ''),
        'is missing',
      )
    case 'boolean':
      return new InvalidArgumentError(argument, 'is not known here')
    case 'pattern':
      return new InvalidArgumentError(argument, `must be ${patternWords(finding.params.pattern)}`)
    default:
      return new InvalidArgumentError(argument || 'body', finding.message)
  }
}

/** `/messages/0/body` as `messages[0].body`. */
function pathOf(pointer: string): string {
  const parts = pointer.split('/').slice(1)
  return parts.reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : join(path, part)), '')
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}
