import type { Expression, Statement, TableConstructorExpression } from 'luaparse'
import { callOfFirst } from './check-refusals.ts'
import { mismatch } from './answer-types.ts'
import type { DeclaredAnswer, Refuse } from './head.ts'
import { orNearest } from './nearest.ts'
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
    if (more.length > 0)
      refuse(line, `this return gives ${more.length + 1} values: put them into one list, ${FORM}`)
    for (const word of checkReturned(value, line, script, refuse)) given.add(word)
  }
  for (const [word, { line }] of script.head.answers) {
    if (!given.has(word))
      refuse(line, `no return gives the answer ${word}: remove @returns ${word}, or return it`)
  }
  if (!alwaysReturns(script.chunk.body)) {
    refuse(lastLine(script), `the script can end without an answer: end it with ${FORM}`)
  }
  for (const call of script.names.calls) {
    if (redisMember(call.base, script.names) === 'error_reply')
      checkErrorWord(argumentsOf(call)[0], lineOf(call), refuse)
  }
}

const FORM = "return { 'word', value }"
const NO_ANSWER = `this is no answer: write ${FORM}, or return redis.error_reply('INVALID argument: problem')`
const TRIED =
  'try takes this value for a refusal: return nil before it, or call the function without try where it refuses nothing'

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
  isTried = false,
): readonly string[] {
  if (value?.type === 'TableConstructorExpression') {
    const word = checkAnswer(value, line, script, refuse)
    return word === null ? [] : [word]
  }
  if (value?.type === 'CallExpression' && redisMember(value.base, script.names) === 'error_reply') return []
  const refused = value && refusalsOf(value, script)
  if (refused) return refused.flatMap((each) => checkReturned(each, lineOf(each), script, refuse, true))
  refuse(line, isTried ? TRIED : NO_ANSWER)
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
  const known = [...script.head.answers.keys()]
  if (word === null) refuse(line, `an answer begins with a status word in quotes: write ${FORM}`)
  else if (!declared)
    refuse(
      line,
      `the head does not declare the answer ${word}: ${orNearest(word, known, `write @returns ${word} there`)}`,
    )
  else checkValues({ word, values }, declared, line, script, refuse)
  return word
}

function checkValues(
  { word, values }: { readonly word: string; readonly values: readonly (Expression | null)[] },
  { fields }: DeclaredAnswer,
  line: number,
  script: Script,
  refuse: Refuse,
): void {
  if (fields !== null && values.length !== fields.length)
    refuse(
      line,
      `the answer ${word} has ${values.length === 1 ? '1 value' : `${values.length} values`} here, and ${fields.length} in @returns ${word}: write as many in both`,
    )
  for (const [at, value] of values.entries()) {
    if (value === null)
      refuse(line, `a value of this answer has a name: write the values in their order, ${FORM}`)
    else if (value.type === 'NilLiteral') refuse(line, 'nil ends an answer: write false for null')
    else if (isOpenEnded(value))
      refuse(
        line,
        'the number of values cannot be seen here: write each value by itself, without unpack and ...',
      )
    else {
      const field = fields?.[at]
      const problem = field && mismatch(field, value, script)
      if (problem) refuse(line, problem)
    }
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
    refuse(line, `an error reply begins with ${ERROR_WORDS.join(', ')}: write 'INVALID argument: problem'`)
  }
}

function lastLine({ chunk }: Script): number {
  const last = chunk.body.at(-1)
  return last ? lineOf(last) : 1
}
