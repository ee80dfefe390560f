import type { Expression, Statement, TableConstructorExpression } from 'luaparse'
import { callOfFirst } from './check-refusals.ts'
import type { Refuse } from './head.ts'
import { redisMember } from './redis-calls.ts'
import { returnsOf } from './returns.ts'
import { argumentsOf, lineOf, literal } from './scope.ts'
import type { Script } from './script.ts'

/** What an error reply may begin with: the runtime turns each into its own error. */
const ERROR_WORDS = ['INVALID', 'LAYOUT', 'CODEC', 'PARTITIONS']

/** Every answer is one that the head declares, every declared one is given, and there always is one. */
export function checkAnswers(script: Script, refuse: Refuse): void {
  const given = new Set<string>()
  for (const {
    arguments: [value, ...more],
    ...statement
  } of returnsOf(script.chunk.body)) {
    const line = statement.loc?.start.line ?? 1
    if (more.length > 0) refuse(line, 'a script returns one value')
    for (const word of checkReturned(value, line, script, refuse)) given.add(word)
  }
  for (const [word, { line }] of script.head.answers) {
    if (!given.has(word)) refuse(line, `@returns ${word}: no return gives this answer`)
  }
  if (!alwaysReturns(script.chunk.body)) {
    refuse(lastLine(script), 'the script can end without an answer')
  }
  for (const call of script.names.calls) {
    if (redisMember(call.base, script.names) === 'error_reply')
      checkErrorWord(argumentsOf(call)[0], lineOf(call), refuse)
  }
}

function alwaysReturns(body: readonly Statement[]): boolean {
  const last = body.at(-1)
  if (last?.type === 'ReturnStatement') return true
  if (last?.type === 'DoStatement') return alwaysReturns(last.body)
  if (last?.type !== 'IfStatement') return false
  return (
    last.clauses.at(-1)?.type === 'ElseClause' && last.clauses.every((clause) => alwaysReturns(clause.body))
  )
}

/** The words of the answers that it may be. */
function checkReturned(
  value: Expression | undefined,
  line: number,
  script: Script,
  refuse: Refuse,
): readonly string[] {
  if (value?.type === 'TableConstructorExpression') {
    const word = checkAnswer(value, line, script, refuse)
    return word === null ? [] : [word]
  }
  if (value?.type === 'CallExpression' && redisMember(value.base, script.names) === 'error_reply') return []
  const refused = value && refusalsOf(value, script)
  if (refused) return refused.flatMap((each) => checkReturned(each, lineOf(each), script, refuse))
  refuse(line, "a script returns {'word', …} or redis.error_reply('WORD …')")
  return []
}

/** What a name may hold to which `try` sets what a function gives back first. */
function refusalsOf(value: Expression, { names }: Script): Expression[] | null {
  const call = value.type === 'CallExpression' ? value : callOfFirst(value, names)
  const fn = call && names.bindingOf(call.base)?.fn
  if (!fn) return null
  return returnsOf(fn.body).flatMap(({ arguments: [first] }) =>
    first === undefined || first.type === 'NilLiteral' ? [] : [first],
  )
}

function checkAnswer(
  table: TableConstructorExpression,
  line: number,
  script: Script,
  refuse: Refuse,
): string | null {
  const [first, ...values] = table.fields.map((field) => (field.type === 'TableValue' ? field.value : null))
  const word = literal(first ?? undefined)
  const declared = word === null ? undefined : script.head.answers.get(word)
  if (word === null) refuse(line, 'an answer begins with a status word in quotes')
  else if (!declared) refuse(line, `the head does not declare @returns ${word}`)
  else checkValues(word, values, declared.fields?.length ?? values.length, line, refuse)
  return word
}

function checkValues(
  word: string,
  values: readonly (Expression | null)[],
  wanted: number,
  line: number,
  refuse: Refuse,
): void {
  if (values.length !== wanted)
    refuse(line, `${word} has ${values.length} values, the head declares ${wanted}`)
  for (const value of values) {
    if (value === null) refuse(line, 'an answer is a plain list')
    else if (value.type === 'NilLiteral') refuse(line, 'nil ends an answer early: write false for null')
    else if (isOpenEnded(value)) refuse(line, 'the number of values must be plain to see: no unpack, no ...')
  }
}

function isOpenEnded(value: Expression): boolean {
  if (value.type === 'VarargLiteral') return true
  return value.type === 'CallExpression' && value.base.type === 'Identifier' && value.base.name === 'unpack'
}

function checkErrorWord(value: Expression | undefined, line: number, refuse: Refuse): void {
  let text = value
  while (text?.type === 'BinaryExpression' && text.operator === '..') text = text.left
  const word = /^[A-Z]+(?= |$)/.exec(literal(text) ?? '')?.[0]
  if (word === undefined || !ERROR_WORDS.includes(word)) {
    refuse(line, `an error reply begins with one of ${ERROR_WORDS.join(', ')}, written out`)
  }
}

function lastLine({ chunk }: Script): number {
  const last = chunk.body.at(-1)
  return last ? lineOf(last) : 1
}
