// The written module compiles under the strictest settings, with any valid names; names that would not compile are
// rejected.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { CommandError } from '../../tools/command/error.ts'
import { generate } from '../../tools/command/generate.ts'

const ROOT = join(import.meta.dirname, '../..')

interface Described {
  readonly structure?: string
  readonly operation?: string
  readonly args?: readonly string[]
  readonly returns?: readonly string[]
  readonly prose?: string
}

function operation({ args = [], returns = ['done'], prose = 'Acts.' }: Described): string {
  const declared = args.map((line, at) =>
    line.replace('ARGV[]', `ARGV[${at + 1}]`).replace('ARGV,', `ARGV, ${at + 1}`),
  )
  const names = declared.flatMap((line) => /^local ([\w, ]+) = /.exec(line)?.[1] ?? [])
  const answers = returns.map((text) => {
    const [word = '', ...fields] = text.match(/\S+\[[^\]]*\]\??|\S+/g) ?? []
    const values = fields.map((field) =>
      field.includes('[') ? ', {}' : /:(?:integer|flag)/.test(field) ? ', 1' : ", '1'",
    )
    return `{ '${word}'${values.join('')} }`
  })
  const conditional = answers
    .slice(1)
    .map((answer) => `if redis.call('GET', keys.state) == '1' then\n  return ${answer}\nend\n`)
  return `--[[
${prose}

${returns.map((text) => `@returns ${text}\n`).join('')}@cost    O(1)
]]
${declared.join('\n')}
redis.call('SET', keys.state, tostring(${names.join(', ').replaceAll(', ', ' or ') || '1'}))
${conditional.join('')}return ${answers[0]}
`
}

function folderOf(all: readonly Described[]): string {
  mkdirSync(join(ROOT, '.perilune'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, '.perilune/names-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const described of all) {
    const path = join(folder, 'redis', described.structure ?? 'demo', `${described.operation ?? 'act'}.lua`)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, operation(described))
    writeFileSync(join(dirname(path), 'keys.lua'), "return {\n  state = 'string', -- the state\n}\n")
  }
  return folder
}

function write(folder: string): string[] {
  try {
    generate({
      folder: join(folder, 'redis'),
      out: join(folder, 'redis.ts'),
      check: false,
      library: join(ROOT, 'lua'),
    })
    return []
  } catch (error) {
    if (error instanceof CommandError) return error.message.replaceAll(`${folder}/`, '').split('\n')
    throw error
  }
}

/** The output of the type checker for the module, with the settings of this repository and stricter ones. */
function typeErrors(folder: string, module = 'nodenext'): string {
  const compilerOptions = {
    module,
    moduleResolution: module === 'nodenext' ? 'nodenext' : 'bundler',
    noImplicitReturns: true,
    noFallthroughCasesInSwitch: true,
    allowUnreachableCode: false,
    allowUnusedLabels: false,
    isolatedDeclarations: true,
  }
  const config = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions,
    files: ['redis.ts'],
    include: [],
    exclude: [],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
  return spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' }).stdout
}

const taken = (name: string): string => `the module has another ${name}: rename the folder or the file`
const every = (name: string, written: string): string =>
  `every object of JavaScript has something called ${written}: take another name for ${name}`
const REFUSED: [described: Described, problem: string][] = [
  [
    { args: ['local a_1 = tonumber(ARGV[]) -- integer: x', 'local a1 = tonumber(ARGV[]) -- integer: y'] },
    'redis/demo/act.lua:8 a_1 and a1 are both a1 in TypeScript: rename one',
  ],
  [
    { args: ['local all, all_at = ARGV, -- repeated (a_1:text a1:text): x'] },
    'redis/demo/act.lua:7 a_1 and a1 are both a1 in TypeScript: rename one',
  ],
  [
    { returns: ['done a_b:text a__b:text'] },
    'redis/demo/act.lua:4 a_b and a__b are both aB in TypeScript: rename one',
  ],
  [
    { returns: ['done all:[a_1:text a1:text]'] },
    'redis/demo/act.lua:4 a_1 and a1 are both a1 in TypeScript: rename one',
  ],
  [
    { args: ["local value_of = ARGV[] == '1' -- flag: x"] },
    `redis/demo/act.lua:7 ${every('value_of', 'valueOf')}`,
  ],
  [
    { args: ['local all, all_at = ARGV, -- repeated (to_string:text b:text): x'] },
    `redis/demo/act.lua:7 ${every('to_string', 'toString')}`,
  ],
  [
    { args: ['local constructor = ARGV[] -- text: x'] },
    `redis/demo/act.lua:7 ${every('constructor', 'constructor')}`,
  ],
  [
    { returns: ['done has_own_property:flag'] },
    `redis/demo/act.lua:4 ${every('has_own_property', 'hasOwnProperty')}`,
  ],
  [
    { returns: ['done status:text'] },
    'redis/demo/act.lua:1 @returns done has a field called status, which is the word itself: rename the field',
  ],
  [
    { operation: 'value-of' },
    'redis/demo/value-of.lua:1 every object of JavaScript has a method of this name: rename the file',
  ],
  [
    { operation: 'is-prototype-of' },
    'redis/demo/is-prototype-of.lua:1 every object of JavaScript has a method of this name: rename the file',
  ],
  [
    { args: ['local many = tonumber(ARGV[] or 9007199254740993) -- integer: x'] },
    'redis/demo/act.lua:7 the default is too large: write at most 9007199254740991',
  ],
  ...[
    'object',
    'require',
    'exports',
    'module',
    'undefined',
    'weak-map',
    'global-this',
    'script-unit',
    'as-list',
  ].map((structure): [Described, string] => [
    { structure },
    expect.stringMatching(new RegExp(`^redis/${structure}/act\\.lua:1 ${taken('\\w+')}$`)),
  ]),
]

test.each(REFUSED)('rejected, with the right name: %j', (described, problem) => {
  expect(write(folderOf([described]))).toContainEqual(problem)
})

const STRUCTURES = `args answer encoded flat found function-name item list map name number of parts perilune-x
  promise-x script set state string symbol then-x this-x to type unit value error date boolean redis status call
  caller unknown any never infinity nan constructor to-string has-own-property value-of proto`.split(/\s+/)
const PROSE =
  'Says asText( and asList(, withoutDefaults(, <Argument>, : Reply | and & CallId. `${odd}` \\ */ /** @x'
const TAKEN_WELL: Described[] = [
  ...STRUCTURES.map((structure) => ({ structure })),
  { operation: 'list', returns: ['listed names:[name:text]', 'none'] },
  {
    operation: 'text',
    returns: ['seen at:big half:number? raw:bytes? is:flag?', 'odd rows:[a:bytes? b:flag c:big d:number?]?'],
  },
  { operation: 'status', prose: PROSE },
  { operation: 'proto', returns: ['constructor', 'to-string at:text', 'value_of', 'proto'] },
  {
    operation: 'lists',
    returns: ['a_b x:[a_text_b:text c:text]', 'a-b x:[a:text b:text c:text]', 'ab x:[a_text:integer]'],
  },
  {
    operation: 'call-ids',
    args: ['local caller = ARGV[] -- text: who', 'local call = ARGV[] -- text: which'],
  },
  {
    operation: 'many',
    args: [
      'local args = ARGV[] -- text: ${a} `b` \\ */',
      'local reply = tonumber(ARGV[]) -- number: x',
      'local then_ = ARGV[] -- bytes: x',
      'local all, at = ARGV, -- repeated (item:bytes encoded:flag new:number class:integer): x',
    ],
  },
  {
    operation: 'left-out',
    args: [
      'local caller = ARGV[] -- text: who',
      'local call = ARGV[] -- text: which',
      "local is = ARGV[] == '1' -- flag: x",
      "local not_so = ARGV[] ~= '0' -- flag: x",
      'local times = tonumber(ARGV[] or 007) -- integer: x',
    ],
  },
  { operation: 'each', args: ['local all, all_at = ARGV, -- repeated (one:flag): x'] },
]

test('every written module passes the type checker, for ES modules and for bundlers', () => {
  const folder = folderOf(TAKEN_WELL)

  expect(write(folder)).toEqual([])
  expect(typeErrors(folder)).toBe('')
  expect(typeErrors(folder, 'preserve')).toBe('')
})
