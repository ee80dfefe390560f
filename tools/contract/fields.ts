import type { AnswerField, ScalarField, ScalarType } from './contract.ts'
import { orNearest } from './nearest.ts'

const SCALARS = new Set<string>(['integer', 'number', 'big', 'text', 'bytes', 'flag'])
/** What the types of other languages are called here. */
export const ELSEWHERE: ReadonlyMap<string, ScalarType> = new Map(
  Object.entries({
    int: 'integer',
    long: 'big',
    bigint: 'big',
    float: 'number',
    double: 'number',
    string: 'text',
    str: 'text',
    buffer: 'bytes',
    bool: 'flag',
    boolean: 'flag',
  } as const),
)
const FIELD = /^([a-z][a-z0-9_]*):(?:\[([^\]]*)\]|([a-z]+))(\?)?$/
const WORDS = /[^\s[\]]*\[[^\]]*\]\??|\S+/g

/** The fields of one answer; throws a SyntaxError that names the field it cannot read. */
export function answerFields(text: string): AnswerField[] {
  return unique((text.match(WORDS) ?? []).map(answerField))
}

/** The fields of one record or of one group of a repeated argument. */
export function scalarFields(text: string): ScalarField[] {
  return answerFields(text).map((field) => {
    if (field.type === 'list')
      throw new SyntaxError(`${field.name} is a list in a list: give its fields to the list around it`)
    return field
  })
}

function isScalarType(type: string): type is ScalarType {
  return SCALARS.has(type)
}

function answerField(word: string): AnswerField {
  const [, name, record, type, mark] = FIELD.exec(word) ?? []
  if (name === undefined)
    throw new SyntaxError(
      `the field ${word} is not written as name:type: write it in lower case and without blanks, as seats:integer`,
    )
  const optional = mark === undefined ? {} : { optional: true as const }
  if (record !== undefined) return { name, type: 'list', ...optional, fields: someFields(name, record) }
  if (type === undefined || !isScalarType(type)) {
    throw new SyntaxError(`${name} has the type ${type}, which does not exist: ${typeFor(name, type)}`)
  }
  return { name, type, ...optional }
}

/** The type that was meant. */
function typeFor(name: string, type = ''): string {
  if (SCALARS.has(name)) return `the name stands first, ${type}:${name}`
  return orNearest(type, [...SCALARS], `use ${ELSEWHERE.get(type) ?? [...SCALARS].join(', ')}`)
}

function someFields(name: string, record: string): ScalarField[] {
  const fields = scalarFields(record)
  if (fields.length === 0) throw new SyntaxError(`the list ${name} has no field: write ${name}:[id:integer]`)
  return fields
}

function unique<Field extends { readonly name: string }>(fields: Field[]): Field[] {
  const twice = fields.find((field, index) => fields.findIndex(({ name }) => name === field.name) !== index)
  if (twice) throw new SyntaxError(`the field ${twice.name} is declared twice: rename one`)
  return fields
}
