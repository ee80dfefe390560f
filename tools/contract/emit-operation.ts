// Writes one operation as the runtime takes it: its script, its keys, and how its arguments and answers travel.

import type { OperationContract } from './contract.ts'
import type { Script } from '../../src/driver.ts'
import { decoder, isReadList } from './emit-decoder.ts'
import { encoder } from './emit-encoder.ts'
import { pascal } from './spelling.ts'

/** The readers of replies that a written module may call. */
export const READERS: readonly string[] = [
  'bigint',
  'bytes',
  'flag',
  'integer',
  'list',
  'number',
  'text',
  'unexpected',
]

/** Operations may be called `list` or `text`, so the readers of replies go by other names. */
export function readerAlias(reader: string): string {
  return reader === 'unexpected' ? reader : `as${pascal(reader)}`
}

/** The object; `script` is the text of its script, `parts` that of the parts of its keys. */
export function operationText(
  operation: OperationContract,
  script: string,
  parts: string = `[${ownParts(operation)
    .map((part) => `'${part}'`)
    .join(', ')}]`,
): string {
  return [
    '{',
    `  script: ${script},`,
    `  parts: ${parts},`,
    encoder(operation.arguments),
    decoder(operation.answers),
    '}\n',
  ].join('\n')
}

/** The last part of each of its own keys. */
export function ownParts({ keys }: OperationContract): string[] {
  return keys.filter(({ repeated }) => !repeated).map(({ part }) => part)
}

/** Any text in single quotes. */
function quoted(text: string): string {
  // oxlint-disable-next-line no-control-regex
  const escaped = text.replace(/[\\']/g, '\\$&').replace(/[\0-\x1f\x7f\u2028\u2029]/g, codeOf)
  return `'${escaped}'`
}

function codeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

export function docstring(text: string): string {
  const lines = text.replaceAll('*/', '* /').split('\n')
  return `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`
}

/** A script with its text in it; `path` is `feed/append`. */
export function wholeScript(path: string, operation: OperationContract): string {
  const { sha1, source, lines } = operation
  const runs = lines.map(([built, file, line]) => `      [${built}, ${quoted(file)}, ${line}],`)
  const escaped = source.replace(/[\\`]|\$(?=\{)/g, '\\$&')
  return `{
    name: '${path}',
    sha1: '${sha1}',
    reads: ${traitsOf(operation).reads},
    bytes: ${traitsOf(operation).bytes},
    lines: [\n${runs.join('\n')}\n    ],
    source: \`${escaped}\`,
  }`
}

/** What a driver has to know of it. */
export function traitsOf({ reads, answers }: OperationContract): Pick<Script, 'reads' | 'bytes'> {
  return { reads, bytes: Object.values(answers).flat().some(holdsBytes) }
}

function holdsBytes(field: OperationContract['answers'][string][number]): boolean {
  return isReadList(field) ? field.fields.some(holdsBytes) : field.type === 'bytes'
}
