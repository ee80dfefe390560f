// The messages of the compiler, as its sources word them.

import {
  type Expression,
  isBinaryExpression,
  isCallExpression,
  isConditionalExpression,
  isFunctionDeclaration,
  isImportSpecifier,
  isMethodDeclaration,
  isIdentifier,
  isImportDeclaration,
  isNewExpression,
  isNoSubstitutionTemplateLiteral,
  isParenthesizedExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isReturnStatement,
  isShorthandPropertyAssignment,
  isStringLiteral,
  isTemplateExpression,
  isVariableDeclaration,
  type Node,
  type SourceFile,
  SyntaxKind,
} from 'typescript/unstable/ast'
import { API } from 'typescript/unstable/sync'
import { filesIn } from '../../../tools/measure/source-files.ts'

export interface Template {
  /** `file:line` of what reports it. */
  readonly place: string
  /** Computed parts are `…`. */
  readonly text: string
  /** Whether it is a message, or the end of a message. */
  readonly isWhole: boolean
}

/** Placeholder for a computed part. */
const COMPUTED = '\0'
/** Functions and classes whose last argument is a message. */
const REPORTERS = /^(?:refuse|#refuse|SyntaxError|CommandError)$/
const FOLDERS = ['tools/contract', 'tools/command']
const PROGRAM = 'tools/perilune.ts'

export function templatesIn(root: string): Template[] {
  const api = new API({ cwd: root })
  try {
    const [project] = api.updateSnapshot({ openProjects: ['tsconfig.json'] }).getProjects()
    const paths = [PROGRAM, ...FOLDERS.flatMap((folder) => filesIn(root, folder, '.ts'))]
    const files = paths.flatMap((path) => {
      const file = project?.program.getSourceFile(`${root}/${path}`)
      return file === undefined ? [] : [{ path, file }]
    })
    return new Reader(files).templates()
  } finally {
    api.close()
  }
}

interface Source {
  readonly path: string
  readonly file: SourceFile
}

/** A constant, or a function: its value or its result. */
interface Definition {
  readonly parameters: readonly string[]
  readonly values: readonly Expression[]
}

/** The position of an expression: its file, and the arguments of the enclosing function. */
interface Scope {
  readonly file: SourceFile
  readonly given: ReadonlyMap<string, { readonly node: Expression; readonly scope: Scope }>
  /** Followed already, on the way to here. */
  readonly inside: readonly Expression[]
}

class Reader {
  readonly #sources: readonly Source[]
  readonly #definitions: ReadonlyMap<SourceFile, ReadonlyMap<string, readonly Definition[]>>

  constructor(sources: readonly Source[]) {
    this.#sources = sources
    this.#definitions = new Map(sources.map(({ file }) => [file, definitionsIn(file)]))
  }

  templates(): Template[] {
    return this.#sources.flatMap(({ path, file }) =>
      nodesIn(file).flatMap((node) => {
        const reported = reportedBy(node)
        if (reported === null) return []
        const { line } = file.getLineAndCharacterOfPosition(reported.message.getStart(file))
        return this.#textsOf(reported.message, { file, given: new Map(), inside: [] })
          .filter((text) => /[a-z]/.test(text))
          .map((text) => ({ place: `${path}:${line + 1}`, text, isWhole: reported.isWhole }))
      }),
    )
  }

  /** All that an expression may say, each once. */
  #textsOf(node: Expression, around: Scope): string[] {
    if (around.inside.includes(node)) return [COMPUTED]
    const scope = { ...around, inside: [...around.inside, node] }
    const texts = (...parts: Expression[]): string[] => [
      ...new Set(parts.flatMap((part) => this.#textsOf(part, scope))),
    ]
    if (isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node)) return [node.text]
    if (isParenthesizedExpression(node)) return texts(node.expression)
    if (isConditionalExpression(node)) return texts(node.whenTrue, node.whenFalse)
    if (isTemplateExpression(node))
      return node.templateSpans.reduce(
        (begun, { expression, literal }) =>
          begun.flatMap((text) =>
            inTemplate(texts(expression)).map((each) => `${text}${each}${literal.text}`),
          ),
        [node.head.text],
      )
    const operator = isBinaryExpression(node) ? node.operatorToken.kind : null
    if (isBinaryExpression(node) && operator === SyntaxKind.AmpersandAmpersandToken) return texts(node.right)
    if (isBinaryExpression(node) && operator === SyntaxKind.QuestionQuestionToken)
      return texts(node.left, node.right)
    return [...new Set(this.#named(node, scope))]
  }

  /** Of a name, or of a call of one. */
  #named(node: Expression, scope: Scope): string[] {
    const name = nameOf(isCallExpression(node) ? node.expression : node)
    const given = scope.given.get(name ?? '')
    if (given) return this.#textsOf(given.node, { ...given.scope, inside: scope.inside })
    const file = this.#definitions.get(scope.file)?.has(name ?? '')
      ? scope.file
      : this.#importedFrom(name, scope.file)
    const definitions = file === null ? undefined : this.#definitions.get(file)?.get(name ?? '')
    if (file === null || definitions === undefined) return [COMPUTED]
    const args = isCallExpression(node) ? node.arguments : []
    return definitions.flatMap(({ parameters, values }) => {
      const entries = parameters.flatMap((each, at) =>
        args[at] ? [[each, { node: args[at], scope }] as const] : [],
      )
      return values.flatMap((value) => this.#textsOf(value, { ...scope, file, given: new Map(entries) }))
    })
  }

  #importedFrom(name: string | null, file: SourceFile): SourceFile | null {
    const found = nodesIn(file).find(
      (node) =>
        isImportDeclaration(node) &&
        nodesIn(node).some((each) => isImportSpecifier(each) && each.name.text === name),
    )
    const module = found && isImportDeclaration(found) ? found.moduleSpecifier.getText(file) : ''
    const base = module.replaceAll(/['"]|\.\.?\//g, '')
    return (base && this.#sources.find(({ path }) => path.endsWith(`/${base}`))?.file) || null
  }
}

/** Where a name may occur, two placeholder words are no message of their own. */
function inTemplate(texts: readonly string[]): readonly string[] {
  return texts.includes(COMPUTED)
    ? texts.filter((text) => text === COMPUTED || text.split(' ').length > 2)
    : texts
}

/** The message that a node reports, or a part of one. */
function reportedBy(node: Node): { message: Expression; isWhole: boolean } | null {
  if (isCallExpression(node) || isNewExpression(node)) {
    const message = node.arguments?.at(-1)
    return message && REPORTERS.test(nameOf(node.expression) ?? '') ? { message, isWhole: true } : null
  }
  if (isShorthandPropertyAssignment(node) && isIdentifier(node.name))
    return node.name.text === 'message' ? { message: node.name, isWhole: true } : null
  if (!isPropertyAssignment(node) || !isIdentifier(node.name)) return null
  if (node.name.text !== 'message' && node.name.text !== 'mend') return null
  return { message: node.initializer, isWhole: node.name.text === 'message' }
}

function nameOf(node: Node): string | null {
  if (isIdentifier(node)) return node.text
  if (!isPropertyAccessExpression(node) || node.expression.kind !== SyntaxKind.ThisKeyword) return null
  return node.name.text
}

function nodesIn(node: Node): Node[] {
  const found: Node[] = [node]
  node.forEachChild((child) => void found.push(...nodesIn(child)))
  return found
}

function definitionsIn(file: SourceFile): ReadonlyMap<string, readonly Definition[]> {
  const found = new Map<string, Definition[]>()
  for (const node of nodesIn(file)) {
    const defined = definedBy(node, file)
    if (defined !== null) found.set(defined.name, [...(found.get(defined.name) ?? []), defined])
  }
  return found
}

function definedBy(node: Node, file: SourceFile): (Definition & { readonly name: string }) | null {
  if (isVariableDeclaration(node) && node.initializer && isIdentifier(node.name))
    return { name: node.name.text, parameters: [], values: [node.initializer] }
  if ((!isFunctionDeclaration(node) && !isMethodDeclaration(node)) || !node.name) return null
  const parameters = node.parameters.map((each) => each.name.getText(file))
  const values = nodesIn(node).flatMap((each) =>
    isReturnStatement(each) && each.expression ? [each.expression] : [],
  )
  return { name: node.name.getText(file), parameters, values }
}
