import type { ReturnStatement, Statement } from 'luaparse'

/** What a body returns, in all its blocks; functions in it return for themselves. */
export function returnsOf(body: readonly Statement[]): ReturnStatement[] {
  return body.flatMap((statement) => {
    if (statement.type === 'ReturnStatement') return [statement]
    if (statement.type === 'IfStatement') return statement.clauses.flatMap((clause) => returnsOf(clause.body))
    return 'body' in statement && statement.type !== 'FunctionDeclaration' ? returnsOf(statement.body) : []
  })
}
