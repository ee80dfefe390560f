// What is measured together, and what is counted of it.
import { type Measured, measureFiles, measureFunctions } from './lines.ts'
import { isDeclaration, measureLuaFunctions, withoutComments } from './lua.ts'
import { repeatedShare } from './repetition.ts'
import { filesIn, textOf } from './source-files.ts'

export interface Part {
  readonly name: string
  readonly files: readonly Measured[]
  readonly functions: readonly Measured[]
  /** Share of the lines that are not blank. */
  readonly comments: number
  /** Share of the lines of code. */
  readonly repeated: number
}

/** Folders with TypeScript that is written by hand. */
export const FOLDERS: readonly string[] = ['src', 'server', 'tools', 'test', 'bench', 'examples']

/** Tests, and what only they use. */
function isTest(path: string): boolean {
  return /\.test\.ts$|-fixture\.ts$|^test\/|^server\/(?:\w+\/)?testing\//.test(path)
}

function isGenerated(path: string): boolean {
  return /^src\/generated\/|^examples\/replace-watch\/redis\.ts$|^test\/scripts\/generated\//.test(path)
}

/** The parts of the project, each with what belongs to it and to no other. */
export function measureParts(root: string): Part[] {
  const lua = filesIn(root, 'lua', '.lua')
  const isModule = (path: string): boolean => path.startsWith('lua/shared/')
  const script = measureScripts(root)
  const source = (folder: string) => (path: string) => path.startsWith(`${folder}/`) && !isTest(path)
  return [
    measureLua(
      root,
      'lua operations',
      lua.filter((path) => !isModule(path)),
    ),
    measureLua(root, 'lua modules', lua.filter(isModule)),
    ...['src', 'server', 'tools', 'bench', 'examples'].map((folder) => script(folder, source(folder))),
    script('tests', isTest),
  ]
}

function measureLua(root: string, name: string, paths: readonly string[]): Part {
  const texts = paths.map((file) => ({ file, text: textOf(root, file) }))
  const written = texts.map(({ text }) => linesWithText(text).length)
  const code = texts.map(({ text }) => linesWithText(withoutComments(text)))
  return {
    name,
    files: texts.map(({ file, text }) => ({ file, line: 1, lines: text.trimEnd().split('\n').length })),
    functions: texts.flatMap(({ file, text }) => measureLuaFunctions(file, text)),
    comments: 1 - sum(code.map(({ length }) => length)) / sum(written),
    repeated: repeatedShare(code.map((lines) => lines.filter((line) => !isDeclaration(line)))),
  }
}

/** Asks the linter once for all parts. */
function measureScripts(root: string): (name: string, isOf: (path: string) => boolean) => Part {
  const all = measureFiles(root, FOLDERS, 'nothing')
  const written = measureFiles(root, FOLDERS, 'blank lines')
  const code = measureFiles(root, FOLDERS, 'blank lines and comments')
  const functions = measureFunctions(root, FOLDERS)
  return (name, isOf) => {
    const own = (found: readonly Measured[]): Measured[] =>
      found.filter(({ file }) => isOf(file) && !isGenerated(file))
    const files = own(all)
    return {
      name,
      files,
      functions: own(functions),
      comments: 1 - sum(own(code).map(linesOf)) / sum(own(written).map(linesOf)),
      repeated: repeatedShare(files.map(({ file }) => linesOfCode(textOf(root, file)))),
    }
  }
}

function linesOfCode(text: string): string[] {
  return linesWithText(text).filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line))
}

function linesWithText(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '')
}

export function linesOf({ lines }: Measured): number {
  return lines
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
