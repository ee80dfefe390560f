// Checks requests against their schemas. Nothing is guessed: an unknown name is rejected.

import type { TSchema } from '@fastify/type-provider-typebox'
import type { FastifySchemaCompiler } from 'fastify'
import { InvalidArgumentError } from 'perilune'
import { type Query, textOf } from '../../http/requests/query.ts'
import { patternWords } from './arguments.ts'
import { type Finding, firstError, validatorOf } from './first-error.ts'

type Properties = Readonly<Record<string, { readonly type?: string }>>

export const compileSchema: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const whole = validatorOf(schema)
  return (data: unknown) => {
    const value = httpPart === 'querystring' ? readQuery(schema, data as Query) : (data ?? {})
    return whole.Check(value) ? { value } : { error: explain(firstError(schema, value)) }
  }
}

/** The texts of a query as values of the schema's types. */
function readQuery(schema: object, query: Query): Record<string, unknown> {
  const properties = 'properties' in schema ? (schema.properties as Properties) : {}
  const entries = Object.entries(query).flatMap(([name, texts]) => {
    if (texts.length > 1) throw new InvalidArgumentError(name, 'must be given once')
    const text = textOf(query, name)
    // A known parameter without a value is treated as missing.
    if (text === undefined && Object.hasOwn(properties, name)) return []
    return [[name, toValue(text ?? '', properties[name]?.type)] as const]
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
