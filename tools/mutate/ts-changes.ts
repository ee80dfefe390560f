// What can be made wrong in a TypeScript file: not its types, and not the texts of errors.

import {
  type BinaryExpression,
  type Expression,
  isBinaryExpression,
  isCallExpression,
  isConditionalExpression,
  isExpressionStatement,
  isIfStatement,
  isNumericLiteral,
  isPrefixUnaryExpression,
  isPropertyAccessExpression,
  isTypeNode,
  type Node,
  type SourceFile,
  type Statement,
  SyntaxKind,
} from 'typescript/unstable/ast'
import { API } from 'typescript/unstable/sync'
import { blankOf, type Change, type Kind, otherNumber } from './mutant.ts'

const COMPARISONS: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
}
const CONDITIONS: Readonly<Record<string, string>> = { '&&': '||', '||': '&&' }
const ARITHMETIC: Readonly<Record<string, string>> = {
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '+=': '-=',
  '-=': '+=',
  'Math.max': 'Math.min',
  'Math.min': 'Math.max',
}
const LONGEST_BRANCH = 4 // lines that are dropped as one

const SPARED = new Set([
  SyntaxKind.ImportDeclaration,
  SyntaxKind.ExportDeclaration,
  SyntaxKind.InterfaceDeclaration,
  SyntaxKind.TypeAliasDeclaration,
  SyntaxKind.ThrowStatement,
])

/** The text of each of these files of a project, and what can be made wrong in it. */
export function tsChanges(root: string, files: readonly string[]): Map<string, Change[]> {
  const api = new API({ cwd: root })
  try {
    const [project] = api.updateSnapshot({ openProjects: ['tsconfig.json'] }).getProjects()
    return new Map(
      files.map((path) => {
        const file = project?.program.getSourceFile(`${root}/${path}`)
        if (!file) throw new Error(`the project has no ${path}`)
        return [path, changesIn(file, file)]
      }),
    )
  } finally {
    api.close()
  }
}

function changesIn(node: Node, file: SourceFile): Change[] {
  if (SPARED.has(node.kind) || isTypeNode(node)) return []
  const below: Change[] = []
  node.forEachChild((child) => void below.push(...changesIn(child, file)))
  return [...changesOf(node, file), ...below]
}

function changesOf(node: Node, file: SourceFile): Change[] {
  if (isBinaryExpression(node)) return operatorChanges(node, file)
  if (isPropertyAccessExpression(node)) return arithmetic(node, file)
  if (isConditionalExpression(node)) return negated(node.condition, file)
  if (isIfStatement(node)) {
    return [...negated(node.expression, file), ...(node.elseStatement ? [] : dropped(node, file))]
  }
  if (isExpressionStatement(node)) return isSuperCall(node.expression) ? [] : dropped(node, file)
  if (isPrefixUnaryExpression(node)) return undenied(node.operator, node.operand, node, file)
  return constantChanges(node, file)
}

function operatorChanges({ left, operatorToken, right }: BinaryExpression, file: SourceFile): Change[] {
  const operator = operatorToken.getText(file)
  const others = COMPARISONS[operator] ?? []
  const condition = CONDITIONS[operator]
  return [
    ...others.map((after) => change('comparison', operatorToken, file, after)),
    ...(condition === undefined ? [] : [change('condition', operatorToken, file, condition)]),
    ...(isText(left) || isText(right) ? [] : arithmetic(operatorToken, file)),
  ]
}

/** A condition that compares, joins or denies is changed at its operator. */
function negated(condition: Expression, file: SourceFile): Change[] {
  if (isBinaryExpression(condition) || isPrefixUnaryExpression(condition)) return []
  return [change('condition', condition, file, `!(${condition.getText(file)})`)]
}

function undenied(operator: SyntaxKind, operand: Node, node: Node, file: SourceFile): Change[] {
  return operator === SyntaxKind.ExclamationToken
    ? [change('condition', node, file, operand.getText(file))]
    : []
}

function arithmetic(node: Node, file: SourceFile): Change[] {
  const other = ARITHMETIC[node.getText(file)]
  return other === undefined ? [] : [change('arithmetic', node, file, other)]
}

function constantChanges(node: Node, file: SourceFile): Change[] {
  if (node.kind === SyntaxKind.TrueKeyword) return [change('constant', node, file, 'false')]
  if (node.kind === SyntaxKind.FalseKeyword) return [change('constant', node, file, 'true')]
  const other = isNumericLiteral(node) ? otherNumber(node.getText(file)) : null
  return other === null ? [] : [change('constant', node, file, other)]
}

function dropped(node: Statement, file: SourceFile): Change[] {
  const text = node.getText(file)
  // A semicolon for the case that it follows an `if` or `else` without braces.
  return text.split('\n').length > LONGEST_BRANCH ? [] : [change('line', node, file, `;${blankOf(text)}`)]
}

function isSuperCall(node: Expression): boolean {
  return isCallExpression(node) && node.expression.kind === SyntaxKind.SuperKeyword
}

function isText({ kind }: Node): boolean {
  return (
    kind === SyntaxKind.StringLiteral ||
    kind === SyntaxKind.TemplateExpression ||
    kind === SyntaxKind.NoSubstitutionTemplateLiteral
  )
}

function change(kind: Kind, node: Node, file: SourceFile, after: string): Change {
  return { kind, from: node.getStart(file), to: node.end, after }
}
