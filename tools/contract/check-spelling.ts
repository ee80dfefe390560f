// Names are written in other languages otherwise than in Lua: there they stay apart, and mean what they say.

import type { AnswerField, ArgumentDeclaration, ScalarField } from './contract.ts'
import type { Refuse } from './head.ts'
import type { Script } from './script.ts'
import { camel } from './spelling.ts'

/** What every object has in TypeScript, so that passing it cannot be detected. */
export const OF_EVERY_OBJECT: ReadonlySet<string> = new Set(
  Object.getOwnPropertyNames(Object.prototype).map(camel),
)

/** Of arguments, of the fields of their groups, of answers and of the records in them. */
export function checkSpelling({ declarations, head }: Script, refuse: Refuse): void {
  const lines = new Map(declarations.arguments.map(({ name, line }) => [name, line]))
  checkNames(declarations.arguments, (name) => lines.get(name) ?? 1, refuse)
  for (const { line, fields = [], ...argument } of declarations.arguments) {
    checkNames(fields, () => line, refuse)
    checkDefault(argument, line, refuse)
  }
  for (const { line, fields } of head.answers.values()) {
    for (const names of [fields ?? [], ...recordsIn(fields ?? [])]) checkNames(names, () => line, refuse)
  }
}

function recordsIn(fields: readonly AnswerField[]): (readonly ScalarField[])[] {
  return fields.flatMap((field) => (field.type === 'list' ? [field.fields] : []))
}

function checkNames(
  named: readonly { readonly name: string }[],
  lineOf: (name: string) => number,
  refuse: Refuse,
): void {
  const seen = new Map<string, string>()
  for (const { name } of named) {
    const written = camel(name)
    const other = seen.get(written)
    seen.set(written, name)
    if (other !== undefined && other !== name)
      refuse(lineOf(name), `${other} and ${name} are both ${written} in TypeScript: rename one`)
    if (OF_EVERY_OBJECT.has(written))
      refuse(
        lineOf(name),
        `every object of JavaScript has something called ${written}: take another name for ${name}`,
      )
  }
}

function checkDefault(
  { default: standIn }: Pick<ArgumentDeclaration, 'default'>,
  line: number,
  refuse: Refuse,
): void {
  if (typeof standIn !== 'number' || Number.isSafeInteger(standIn)) return
  refuse(line, `the default is too large: write at most ${Number.MAX_SAFE_INTEGER}`)
}
