import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compileTree } from '../../tools/contract/compile.ts'
import { ContractError } from '../../tools/contract/problem.ts'

// Each fixture says itself what is refused: `-- refused: message` at the end of the line in question,
// or `-- refused at 4: message` where the line cannot carry it.
const FIXTURES = join(import.meta.dirname, 'fixtures/refused')
const cases = readdirSync(FIXTURES)
  .filter((file) => file.endsWith('.lua'))
  .map((file) => file.slice(0, -'.lua'.length))

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'perilune-compiler-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

test.each(cases)('refused with file and line: %s', (name) => {
  const text = readFileSync(join(FIXTURES, `${name}.lua`), 'utf8')
  const root = tree({ [`demo/${name}.lua`]: text })

  expect(problemsOf(root)).toEqual(expectedIn(`demo/${name}.lua`, text).toSorted())
})

test('a key that callers add on a cluster may not be listed', () => {
  const using = GOOD.replace('keys.count', 'keys.never')

  expect(problemsOf(tree({ 'demo/a.lua': using }))).toEqual([
    'refused/demo/keys.lua:3 the key never is one that is never there: take another name',
  ])
})

test('a name with capitals or underscores is refused, for folders and for operations', () => {
  const root = tree({ 'Big/count.lua': GOOD, 'demo/count_up.lua': GOOD })

  expect(problemsOf(root)).toEqual([
    'refused/Big/count.lua:1 Big is not a name in lower case with hyphens',
    'refused/demo/count_up.lua:1 count_up is not a name in lower case with hyphens',
  ])
})

test('an operation cannot be called by a reserved word', () => {
  expect(problemsOf(tree({ 'demo/delete.lua': GOOD }))).toEqual([
    'refused/demo/delete.lua:1 delete is a reserved word in other languages: take another verb',
  ])
})

test('a key has the same type in all operations of a structure', () => {
  const repeated = (kind: string): string =>
    GOOD.replace(']]\n', `]]\nlocal count, count_at = KEYS, 1 -- repeated ${kind}: the count\n`).replace(
      'keys.count',
      'count[count_at]',
    )
  const [one, other] = [repeated('string'), repeated('list, set, hash or sorted set')]

  expect(problemsOf(tree({ 'demo/a.lua': one, 'demo/b.lua': other, 'else/b.lua': other }))).toEqual([
    'refused/demo/b.lua:7 the key count has the kind any here and string in refused/demo/a.lua',
  ])
})

test('problems of a module are told once, however many scripts use it', () => {
  const using = GOOD.replace('return {', '-- module: keyed\nfirst_key()\nreturn {')

  expect(problemsOf(tree({ 'demo/a.lua': using, 'demo/b.lua': using }))).toEqual([
    'refused/shared/keyed.lua:2 KEYS may stand in the declarations only: write keys.name, and in a module take the key as a parameter',
  ])
})

const GOOD = `--[[
Counts.

@returns counted  value:integer
@cost    O(1)
]]
return { 'counted', redis.call('INCR', keys.count) }
`
const KEYS = `return {
  count = 'string', -- the count
  never = 'string', -- nothing
}
`

function tree(files: Record<string, string>): string {
  const root = join(mkdtempSync(join(folder, 'tree-')), 'refused')
  for (const [path, text] of Object.entries(files)) {
    for (const name of modulesOf(text))
      cpSync(join(FIXTURES, 'shared', `${name}.lua`), join(root, 'shared', `${name}.lua`))
    const structure = join(root, path, '..')
    mkdirSync(structure, { recursive: true })
    writeFileSync(join(root, path), text)
    if (!existsSync(join(structure, 'keys.lua'))) writeFileSync(join(structure, 'keys.lua'), KEYS)
  }
  return root
}

function problemsOf(root: string): string[] {
  try {
    compileTree(root)
    return []
  } catch (error) {
    if (!(error instanceof ContractError)) throw error
    return error.problems.map(({ file, line, message }) => `${file}:${line} ${message}`).toSorted()
  }
}

function expectedIn(path: string, text: string): string[] {
  const own = text.split('\n').flatMap((line, index) => {
    const at = /^-- refused at (\d+): (.*)$/.exec(line)
    if (at) return [`refused/${path}:${at[1]} ${at[2]}`]
    const [, ...messages] = line.split(' -- refused: ')
    return messages.map((message) => `refused/${path}:${index + 1} ${message}`)
  })
  const modules = modulesOf(text).map((name) => `shared/${name}.lua`)
  return [...own, ...modules.flatMap((name) => expectedIn(name, readFileSync(join(FIXTURES, name), 'utf8')))]
}

/** The modules that a fixture names: `-- module: notes`. */
function modulesOf(text: string): string[] {
  return [...text.matchAll(/^-- module: (\S+)$/gm)].map(([, name = '']) => name)
}
