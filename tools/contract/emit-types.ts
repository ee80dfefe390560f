import type {
  AnswerField,
  ArgumentDeclaration,
  OperationContract,
  ScalarField,
  ScalarType,
} from './contract.ts'
import { camel, pascal } from './spelling.ts'

const GIVEN: Record<ScalarType, string> = {
  integer: 'number',
  number: 'number',
  big: 'bigint',
  text: 'string',
  bytes: 'string | Uint8Array',
  flag: 'boolean',
}
const ANSWERED: Record<ScalarType, string> = { ...GIVEN, bytes: 'Buffer' }

/** The interface of what a caller passes; `mayBeLeftOut`: those that have a default are optional. */
export function argumentTypes(
  name: string,
  args: readonly ArgumentDeclaration[],
  mayBeLeftOut = false,
): string {
  if (args.length === 0) return `export type ${pascal(name)}Arguments = Readonly<Record<string, never>>\n`
  const members = args.map((argument) => {
    const about = argument.about.replaceAll('*/', '* /')
    const mark = argument.default !== undefined && mayBeLeftOut ? '?' : ''
    return `  /** ${about} */\n  readonly ${camel(argument.name)}${mark}: ${argumentType(argument)}\n`
  })
  return `export interface ${pascal(name)}Arguments {\n${members.join('')}}\n`
}

/** The union of all answers, discriminated by `status`, and the types of the records in them. */
export function answerTypes(name: string, answers: OperationContract['answers']): string {
  const members = Object.entries(answers).map(([word, fields]) => {
    const values = fields.map((field) => `; readonly ${camel(field.name)}: ${answerType(field)}`)
    return `  | { readonly status: '${word}'${values.join('')} }`
  })
  return `export type ${pascal(name)}Answer =\n${members.join('\n')}\n`
}

/** The type of one value of a list: a record, or the plain value when it has one field. */
export function recordType(fields: readonly ScalarField[]): string {
  const [only, ...more] = fields
  if (only && more.length === 0) return orNull(ANSWERED[only.type], only.optional)
  return `{ ${fields.map((field) => `readonly ${camel(field.name)}: ${answerType(field)}`).join('; ')} }`
}

function argumentType({ type, fields = [] }: ArgumentDeclaration): string {
  if (type !== 'repeated') return GIVEN[type]
  const [only, ...more] = fields
  if (only && more.length === 0) return `readonly (${GIVEN[only.type]})[]`
  return `readonly { ${fields.map((field) => `readonly ${camel(field.name)}: ${GIVEN[field.type]}`).join('; ')} }[]`
}

function answerType(field: AnswerField): string {
  const type = field.type === 'list' ? arrayOf(recordType(field.fields)) : ANSWERED[field.type]
  return orNull(type, field.optional)
}

function arrayOf(type: string): string {
  return type.includes('|') && !type.startsWith('{') ? `(${type})[]` : `${type}[]`
}

function orNull(type: string, optional: true | undefined): string {
  return optional ? `${type} | null` : type
}
