// `local queue = try(open_queue(…))`: what such a function gives back first is what refuses the call, and ends the
// script. A function cannot return for the script that calls it, so the compiler writes the lines that do:
//
//   local refusal, queue = open_queue(…) if refusal then return refusal end

import type { Expression, Statement } from 'luaparse'
import { type Edit, withEdits } from './edit.ts'
import type { Refuse } from './head.ts'
import { parseLua } from './parse-lua.ts'
import { argumentsOf, type Call, lineOf, resolve, type Span, spanOf } from './scope.ts'

/** How `try` is written. */
export const TRY_FORM =
  'try stands in a statement of its own, outside functions: write local name = try(open_name(…))'

/** The text of a script with `try` expanded, on the same lines. */
export function withRefusals(text: string, refuse: Refuse): string {
  if (!/\btry\b/.test(text)) return text
  const chunk = parseLua(text, () => {})
  if (chunk === null) return text
  const names = resolve(chunk)
  const refusal = nameNotIn(text)
  const tried = new Set<unknown>()
  const edits = statementsOf(chunk.body).flatMap((statement) => {
    const call = tryOf(statement)
    if (call === null) return []
    tried.add(call.base)
    return editsFor(text, statement, call, refusal)
  })
  for (const name of names.globalReads)
    if (name.name === 'try' && !tried.has(name)) refuse(lineOf(name), TRY_FORM)
  return withEdits(text, edits)
}

function nameNotIn(text: string): string {
  let name = 'refusal'
  while (new RegExp(`\\b${name}\\b`).test(text)) name += '_'
  return name
}

/** Those of the script itself, in all its blocks. */
function statementsOf(body: readonly Statement[]): Statement[] {
  return body.flatMap((statement) => {
    if (statement.type === 'IfStatement')
      return statement.clauses.flatMap((clause) => statementsOf(clause.body))
    if (statement.type === 'FunctionDeclaration') return []
    return 'body' in statement ? statementsOf(statement.body) : [statement]
  })
}

/** The call of `try` with one call in it that a statement consists of, or sets its names to. */
function tryOf(statement: Statement): Call | null {
  const call = callOf(statement)
  if (call?.type !== 'CallExpression') return null
  const isTry = call.base.type === 'Identifier' && call.base.name === 'try'
  return isTry && call.arguments.length === 1 && call.arguments[0]?.type === 'CallExpression' ? call : null
}

function callOf(statement: Statement): Expression | null {
  if (statement.type === 'CallStatement') return statement.expression
  const isSet = statement.type === 'LocalStatement' || statement.type === 'AssignmentStatement'
  return isSet && statement.init.length === 1 ? (statement.init[0] ?? null) : null
}

function editsFor(text: string, statement: Statement, call: Call, refusal: string): Edit[] {
  const inner = argumentsOf(call)[0]
  if (inner === undefined) return []
  const [outside, inside] = [spanOf(call), spanOf(inner)]
  const open = breaksOf(text, { from: outside.from, to: inside.from })
  const close = breaksOf(text, { from: inside.to, to: outside.to })
  const returns = { ...close, text: `${close.text} if ${refusal} then return ${refusal} end` }
  if (statement.type === 'CallStatement')
    return [{ ...open, text: `local ${refusal} = ${open.text}` }, returns]
  return [beforeNames(statement, refusal), open, returns]
}

/** Its line breaks and nothing else. */
function breaksOf(text: string, { from, to }: Span): Edit {
  return { from, to, text: text.slice(from, to).replaceAll(/[^\n]/g, '') }
}

function beforeNames(statement: Statement, refusal: string): Edit {
  const isLocal = statement.type === 'LocalStatement'
  const first = isLocal ? statement.variables[0] : undefined
  const { from } = spanOf(first ?? statement)
  return { from, to: from, text: isLocal ? `${refusal}, ` : `local ${refusal} ${refusal}, ` }
}
