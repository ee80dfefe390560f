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
export function decoder(answers: OperationContract['answers']): string {
  const cases = Object.entries(answers).map(([word, fields]) => answerCase(word, fields))
  return [
    '  decode(reply) {',
    '    const parts = asList(reply)',
    '    switch (asText(parts[0])) {',
    ...cases,
    '      default:',
    `        return unexpected('${Object.keys(answers).join(' or ')}', parts[0])`,
    '    }',
    '  },',
  ].join('\n')
}

/** A function for each form of a list of records in the answers of these operations, by its name. */
export function listReaders(
  operations: readonly Pick<OperationContract, 'answers'>[],
): ReadonlyMap<string, string> {
  const lists = operations.flatMap(({ answers }) => Object.values(answers).flat().filter(isReadList))
  return new Map(lists.map((field) => [readerName(field), listReader(field)]))
}

export function isReadList(field: AnswerField): field is ListField {
  return field.type === 'list'
}

function answerCase(word: string, fields: readonly AnswerField[]): string {
  const values = fields.map((field, index) => {
    const part = `parts[${index + 1}]`
    const reader = isReadList(field) ? readerName(field) : READERS[field.type]
    return `          ${camel(field.name)}: ${read(reader, part, field.optional)},\n`
  })
  if (fields.length === 0) return `      case '${word}':\n        return { status: '${word}' }`
  return `      case '${word}':\n        return {\n          status: '${word}',\n${values.join('')}        }`
}

function listReader(field: ListField): string {
  const { fields } = field
  const type = recordType(fields)
  const size = fields.length
  return `function ${readerName(field)}(part: Reply | undefined): (${type})[] {
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

/** `readTextList`, `readAtInteger_WhyTextList`: of its form alone, so that lists of one form have one function, and only those. */
function readerName({ fields }: ListField): string {
  const names = fields.map(({ name, type, optional }) => {
    const form = `${pascal(type)}${optional ? 'OrNull' : ''}`
    return fields.length === 1 ? form : `${pascal(name)}${form}`
  })
  return `read${names.join('_')}List`
}
