import type { ForNumericStatement } from 'luaparse'
import { type DeclaredArgument, type DeclaredKey, ONE_LINE } from './declarations.ts'
import type { Refuse } from './head.ts'
import { locate } from './locate.ts'
import { type Binding, lineOf } from './scope.ts'
import type { Script } from './script.ts'

/** Keys and arguments are used, keep their meaning, and groups are walked by their size. */
export function checkDeclarations(script: Script, refuse: Refuse): void {
  const { keys, arguments: args, after } = script.declarations
  for (const statement of script.chunk.body)
    if (lineOf(statement) < after && statement.loc?.end.line !== lineOf(statement))
      refuse(lineOf(statement), ONE_LINE)
  for (const key of keys) {
    checkUsed(key, 'key', script, refuse)
    checkConstant(key, script, refuse)
    // Callers add one of this name on a cluster: lua/README.md, "A slot that moves".
    if (key.part === 'never')
      refuse(
        key.line,
        'a key may not be called never, for callers add one of this name on a cluster: take another name',
      )
  }
  for (const [at, argument] of args.entries()) {
    const isNext = argument.local !== undefined && args[at - 1]?.local === argument.local
    if (!isNext) checkUsed(argument, 'argument', script, refuse)
    if (args.findIndex(({ name }) => name === argument.name) < at)
      refuse(argument.line, `there is another argument called ${argument.name}: rename one`)
    if (argument.fields) checkSteps(argument, argument.fields.length, script, refuse)
  }
}

function checkUsed(
  declared: DeclaredKey | DeclaredArgument,
  what: string,
  script: Script,
  refuse: Refuse,
): void {
  for (const name of [localOf(declared), declared.start]) {
    if (name === undefined) continue
    if (bindingAt(script, name, declared.line)?.reads.length === 0)
      refuse(declared.line, `the ${what} ${name} is never used: remove it, or use it`)
  }
}

function localOf(declared: DeclaredKey | DeclaredArgument): string {
  return 'local' in declared && declared.local !== undefined ? declared.local : declared.name
}

/** Parameters may carry the name of a key: a function is read by itself. */
function checkConstant(key: DeclaredKey, { names, built, file, ...script }: Script, refuse: Refuse): void {
  for (const write of bindingAt({ names, ...script }, key.name, key.line)?.writes ?? []) {
    refuse(
      lineOf(write),
      `${key.name} is the key declared in line ${locate(built.lines, key.line).line}, and may not be set: take another name for this value`,
    )
  }
  for (const { name, line, kind } of names.bindings) {
    const own = locate(built.lines, line).file === file
    if (own && kind !== 'parameter' && name === key.name && line !== key.line) {
      refuse(
        line,
        `${name} is the key declared in line ${locate(built.lines, key.line).line}: take another name for this local`,
      )
    }
  }
}

function checkSteps(argument: DeclaredArgument, size: number, script: Script, refuse: Refuse): void {
  const binding = bindingAt(script, argument.name, argument.line)
  for (const node of script.names.nodes) {
    if (node.type !== 'ForNumericStatement' || !endsWith(node, binding, script)) continue
    const step = node.step === null ? 1 : node.step.type === 'NumericLiteral' ? node.step.value : null
    if (step !== size)
      refuse(
        lineOf(node),
        `${argument.name} comes in groups of ${size}: write #${argument.name.toUpperCase()} as the step, or ${size}`,
      )
  }
}

function endsWith({ end }: ForNumericStatement, binding: Binding | null, { names }: Script): boolean {
  return end.type === 'UnaryExpression' && end.operator === '#' && names.bindingOf(end.argument) === binding
}

function bindingAt({ names }: Pick<Script, 'names'>, name: string, line: number): Binding | null {
  return names.bindings.find((binding) => binding.name === name && binding.line === line) ?? null
}
