import type { ArgumentDeclaration, ScalarType } from './contract.ts'
import { camel } from './spelling.ts'

/** The method that puts the arguments in the order of ARGV. */
export function encoder(args: readonly ArgumentDeclaration[]): string {
  const repeated = args.find(({ type }) => type === 'repeated')
  if (args.length === 0) return '  encode() {\n    return []\n  },'
  return repeated ? groupsEncoder(args.slice(0, -1), repeated) : scalarEncoder(args)
}

function scalarEncoder(args: readonly ArgumentDeclaration[]): string {
  const values = args.map(({ name, type }) => `      ${encoded(`args.${camel(name)}`, type)},\n`)
  const defaults = args.flatMap((one) => (one.default === undefined ? [] : [Number(one.default)]))
  const all = `[\n${values.join('')}    ]`
  const given = defaults.length === 0 ? all : `withoutDefaults(${all}, [${defaults.join(', ')}])`
  return `  encode(args) {\n    return ${given}\n  },`
}

function groupsEncoder(
  scalars: readonly ArgumentDeclaration[],
  { name, fields = [] }: ArgumentDeclaration,
): string {
  const whole = fields.length === 1
  const sets = scalars.map(
    (one, at) => `    encoded[${at}] = ${encoded(`args.${camel(one.name)}`, one.type)}`,
  )
  const puts = fields.map((field) => {
    const value = whole ? 'item' : `item.${camel(field.name)}`
    return `      encoded[at++] = ${encoded(value, field.type)}`
  })
  const groups = `args.${camel(name)}`
  const size = `${groups}.length`
  const offset = scalars.length === 0 ? [] : [`${scalars.length}`]
  return [
    '  encode(args) {',
    `    const encoded = new Array<Argument>(${[...offset, whole ? size : `${size} * ${fields.length}`].join(' + ')})`,
    ...sets,
    `    let at = ${scalars.length}`,
    `    for (const item of ${groups}) {`,
    ...puts,
    '    }',
    '    return encoded',
    '  },',
  ].join('\n')
}

function encoded(value: string, type: ScalarType | 'repeated'): string {
  if (type === 'flag') return `${value} ? 1 : 0`
  return type === 'big' ? `${value}.toString()` : value
}
