import type { AnswerField, ScalarField, ScalarType } from './contract.ts'

const SCALARS = new Set<string>(['integer', 'number', 'big', 'text', 'bytes', 'flag'])
const FIELD = /^([a-z][a-z0-9_]*):(?:\[([^\]]*)\]|([a-z]+))(\?)?$/
const WORDS = /[^\s[\]]*\[[^\]]*\]\??|\S+/g

/** The fields of one answer; throws a SyntaxError that names the field it cannot read. */
export function answerFields(text: string): AnswerField[] {
  return unique((text.match(WORDS) ?? []).map(answerField))
}

/** The fields of one record or of one group of a repeated argument. */
export function scalarFields(text: string): ScalarField[] {
  return answerFields(text).map((field) => {
    if (field.type === 'list') throw new SyntaxError(`a list cannot hold the list ${field.name}`)
    return field
  })
}

function isScalarType(type: string): type is ScalarType {
  return SCALARS.has(type)
}

function answerField(word: string): AnswerField {
  const [, name, record, type, mark] = FIELD.exec(word) ?? []
  if (name === undefined) throw new SyntaxError(`cannot read the field ${word}: write name:type`)
  const optional = mark === undefined ? {} : { optional: true as const }
  if (record !== undefined) return { name, type: 'list', ...optional, fields: someFields(name, record) }
  if (type === undefined || !isScalarType(type)) {
    throw new SyntaxError(`${name} has the unknown type ${type}: use ${[...SCALARS].join(', ')}`)
  }
  return { name, type, ...optional }
}

function someFields(name: string, record: string): ScalarField[] {
  const fields = scalarFields(record)
  if (fields.length === 0) throw new SyntaxError(`the list ${name} names no field`)
  return fields
}

function unique<Field extends { readonly name: string }>(fields: Field[]): Field[] {
  const twice = fields.find((field, index) => fields.findIndex(({ name }) => name === field.name) !== index)
  if (twice) throw new SyntaxError(`the field ${twice.name} is declared twice`)
  return fields
}
