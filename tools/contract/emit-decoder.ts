import type { AnswerField, ListField, OperationContract, ScalarField, ScalarType } from './contract.ts'
import { recordType } from './emit-types.ts'
import { camel, pascal } from './spelling.ts'

const READERS: Record<ScalarType, string> = {
  integer: 'asInteger',
  number: 'asNumber',
  big: 'asBigint',
  text: 'asText',
  bytes: 'asBytes',
  flag: 'asFlag',
}

/** The method that turns a reply into the answer that its status word names. */
export function decoder(name: string, answers: OperationContract['answers']): string {
  const cases = Object.entries(answers).map(([word, fields]) => answerCase(name, word, fields))
  return [
    '  decode(reply) {',
    '    const parts = asList(reply)',
    '    switch (asText(parts[0])) {',
    ...cases,
    '      default:',
    `        return unexpected('${wanted(Object.keys(answers))}', parts[0])`,
    '    }',
    '  },',
  ].join('\n')
}

/** What these functions are called. */
export function readerNames(name: string, answers: OperationContract['answers']): string[] {
  return Object.entries(answers).flatMap(([word, fields]) =>
    fields.filter(isReadList).map((field) => readerName(name, word, field)),
  )
}

/** A function for every list of records in the answers of an operation. */
export function listReaders(name: string, answers: OperationContract['answers']): string {
  const readers = Object.entries(answers).flatMap(([word, fields]) =>
    fields.filter(isReadList).map((field) => listReader(readerName(name, word, field), field)),
  )
  return readers.join('\n')
}

export function isReadList(field: AnswerField): field is ListField {
  return field.type === 'list'
}

function answerCase(name: string, word: string, fields: readonly AnswerField[]): string {
  const values = fields.map((field, index) => {
    const part = `parts[${index + 1}]`
    const reader = isReadList(field) ? readerName(name, word, field) : READERS[field.type]
    return `          ${camel(field.name)}: ${read(reader, part, field.optional)},\n`
  })
  if (fields.length === 0) return `      case '${word}':\n        return { status: '${word}' }`
  return `      case '${word}':\n        return {\n          status: '${word}',\n${values.join('')}        }`
}

function listReader(reader: string, { fields }: ListField): string {
  const type = recordType(fields)
  const size = fields.length
  return `function ${reader}(part: Reply | undefined): (${type})[] {
  const flat = asList(part)
  const found = new Array<${type}>(${size === 1 ? 'flat.length' : `Math.ceil(flat.length / ${size})`})
  for (let from = 0, to = 0; from < flat.length; ${size === 1 ? 'from++' : `from += ${size}`}, to++) {
    found[to] = ${record(fields)}
  }
  return found
}
`
}

function record(fields: readonly ScalarField[]): string {
  const values = fields.map((field, index) => {
    return read(READERS[field.type], index === 0 ? 'flat[from]' : `flat[from + ${index}]`, field.optional)
  })
  if (fields.length === 1) return values.join('')
  return `{ ${fields.map((field, index) => `${camel(field.name)}: ${values[index]}`).join(', ')} }`
}

function read(reader: string, part: string, optional: true | undefined): string {
  return optional ? `${part} === null ? null : ${reader}(${part})` : `${reader}(${part})`
}

function readerName(name: string, word: string, field: ListField): string {
  return `read${pascal(field.name)}Of${pascal(name)}${pascal(word)}`
}

function wanted(words: readonly string[]): string {
  return words.length === 1 ? `the answer ${words[0]}` : `one of the answers ${words.join(', ')}`
}
