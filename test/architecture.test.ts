import { fileURLToPath } from 'node:url'
import cronerManifest from 'croner/package.json' with { type: 'json' }
import { expect, test } from 'vitest'
import contract from '../lua/contract.json' with { type: 'json' }
import manifest from '../package.json' with { type: 'json' }
import { camel } from '../tools/contract/spelling.ts'
import { INTERNAL } from '../tools/docs/completeness.ts'
import { type Measured, median, percentile } from '../tools/measure/lines.ts'
import { linesOfOperation, parametersOf } from '../tools/measure/lua.ts'
import { FOLDERS, linesOf, measureParts } from '../tools/measure/parts.ts'
import { filesIn, findCycle, importsOf, textOf } from '../tools/measure/source-files.ts'
import tsconfig from '../tsconfig.json' with { type: 'json' }

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const SHARED_FOLDERS = new Set([
  'drivers',
  'generated',
  'middleware',
  'runtime',
  'scripts',
  'sinks',
  'stores',
  'testing',
])

const files = FOLDERS.flatMap((folder) => filesIn(ROOT, folder, '.ts'))
const sources = files.filter((path) => !path.endsWith('.test.ts'))
const lua = filesIn(ROOT, 'lua', '.lua')
const operations = lua.filter((path) => !path.startsWith('lua/shared/') && !path.endsWith('/keys.lua'))
const structures = [...new Set(operations.map((path) => path.split('/')[1] ?? ''))]

/** What users can import, `index` or `feed`, and its source file. */
const publicSources: [name: string, file: string][] = Object.entries(tsconfig.compilerOptions.paths)
  .map(([name, [file = '']]): [string, string] => [
    name === 'perilune' ? 'index' : name.slice('perilune/'.length),
    file.slice('./'.length),
  ])
  .filter(([, file]) => file.endsWith('.ts'))

/** The public part of a structure: its entry, or its class when it has no public name. */
function publicFileOf(structure: string): string {
  return `src/${structure}/${INTERNAL.has(structure) ? structure : 'index'}.ts`
}

const imports = new Map(files.map((path) => [path, importsOf(path, textOf(ROOT, path))]))

interface Edge {
  readonly from: string
  /** A path from the root, or the name of a package. */
  readonly to: string
  readonly typeOnly: boolean
}

/** The imports of the files below a folder, without test files. */
function edgesOf(folder: string): Edge[] {
  return sources
    .filter((path) => path.startsWith(folder))
    .flatMap((from) =>
      (imports.get(from) ?? []).map(({ specifier, file, typeOnly }) => ({
        from,
        to: file ?? specifier,
        typeOnly,
      })),
    )
}

/** Fails with the rule and every file that breaks it. */
function holds(rule: string, offenders: readonly string[]): void {
  expect(offenders, [`ARCHITECTURE.md: ${rule}`, ...offenders].join('\n')).toEqual([])
}

function arrows(edges: readonly Edge[]): string[] {
  return edges.map(({ from, to }) => `${from} -> ${to}`)
}

/** The one dependency, and the one file that needs it. */
const CRONER = { from: 'src/queue/recurring/cron.ts', to: 'croner' } as const

function isDependency({ from, to }: Edge): boolean {
  return from === CRONER.from && to === CRONER.to
}

function isBuiltIn(to: string): boolean {
  return to.startsWith('node:')
}

/** The shared code of drivers and the runtime. */
const PLAIN = ['src/driver.ts', 'src/linked-list.ts']

const RULES = {
  port: 'rule 2: src/driver.ts imports nothing, and src/linked-list.ts neither',
  drivers:
    'rule 2: a file in src/drivers imports src/driver.ts, src/linked-list.ts, its own folder, and the types of one client library, a peer dependency',
  runtime:
    'rule 3: src/runtime imports src/driver.ts, src/linked-list.ts and its own folder, and never names a structure',
  structure:
    'rule 4: src/<structure> imports src/runtime, its own folder, its own part of src/generated and the bits there, never another structure',
  called: 'rule 4: what no class in src/<structure> calls is no operation of the library',
  facade:
    'rule 5: src/perilune.ts imports every structure and contains no logic; only src/index.ts imports it, which nothing imports',
  middleware:
    'rule 5: src/middleware imports cache, once, rate-limit, src/runtime and itself; nothing in src imports it',
  stores: 'rule 5: src/stores imports cache, src/runtime and itself; nothing in src imports it',
  sinks:
    'rule 5: src/sinks imports the ports and the errors of src/counters, src/runtime and itself; nothing in src imports it',
  scripts: 'rule 5: src/scripts imports src/driver.ts, src/runtime and itself; nothing in src imports it',
  testing:
    'rule 6: src/testing imports src/driver.ts, src/runtime, itself and the contract; no structure, no test runner',
  outside: 'rule 7: server and examples import the library by its public names only',
  generated:
    'rule 8: generated files import src/driver.ts, src/runtime and what they share of Lua only, and say that they are generated',
  cycles: 'rule 10: there is no import cycle, type-only imports included',
  nameless: 'rule 10: no file is called types, interfaces, utils, helpers or common',
  dependencies:
    'rule 11: the library has one dependency, croner, pinned, without dependencies, and known to src/queue/recurring/cron.ts only',
  functions: 'rule 12: half of the functions are under 10 lines, 95 % under 30, none over 60',
  files: 'rule 12: 85 % of the TypeScript files are under 200 lines, none over 400',
  operations:
    'rule 12: 90 % of the operations in Lua are under 60 lines behind their declarations, none over 120 with everything',
  parameters: 'rule 12: no function of Lua has more than six parameters',
  modules: 'rule 12: lua/shared has at most 80 files, 20 of them for the queue',
  names:
    'rule 13: tsconfig.json has every public name with its source; package.json exports each, and its build has that name',
  signals:
    'rule 14: Joined is used, which parts with the signals that it aborts with, and not AbortSignal.any',
}

test('the port imports nothing', () => {
  holds(RULES.port, arrows(PLAIN.flatMap((path) => edgesOf(path))))
})

test('a file of a driver imports the port, its own folder and the types of one client library', () => {
  const clients = Object.keys(manifest.peerDependencies)
  const outside = edgesOf('src/drivers/').filter(
    ({ to }) => !isBuiltIn(to) && !PLAIN.includes(to) && !to.startsWith('src/drivers/'),
  )
  holds(RULES.drivers, arrows(outside.filter(({ to, typeOnly }) => !typeOnly || !clients.includes(to))))
  const mixed = outside.filter((edge) => outside.some(({ from, to }) => from === edge.from && to !== edge.to))
  holds(RULES.drivers, arrows(mixed))
})

test('every structure has a public name, and every public name its build in package.json', () => {
  const names = new Map(publicSources)
  const nameless = structures.filter((structure) => {
    return !INTERNAL.has(structure) && names.get(structure) !== publicFileOf(structure)
  })
  holds(`${RULES.names} (paths of tsconfig.json)`, nameless)
  const { './contract.json': _contract, './package.json': _package, ...built } = manifest.exports
  expect(built, `ARCHITECTURE.md: ${RULES.names}`).toEqual(
    Object.fromEntries(publicSources.map(([name]) => [name === 'index' ? '.' : `./${name}`, buildOf(name)])),
  )
})

function buildOf(name: string): object {
  return { types: `./dist/${name}.d.mts`, default: `./dist/${name}.mjs` }
}

test('the runtime knows the port, and no structure', () => {
  const edges = edgesOf('src/runtime/').filter(
    ({ to }) => !isBuiltIn(to) && !PLAIN.includes(to) && !to.startsWith('src/runtime/'),
  )
  holds(RULES.runtime, arrows(edges))
  const name = new RegExp(`(['"\`])(?:${structures.join('|')})\\1`)
  const naming = sources.filter((path) => path.startsWith('src/runtime/') && name.test(textOf(ROOT, path)))
  holds(RULES.runtime, naming)
})

test('no structure imports another one', () => {
  for (const structure of structures) {
    const generated = [`src/generated/${structure}.ts`, 'src/generated/bits.ts']
    const allowed = [`src/${structure}/`, 'src/runtime/', ...generated, 'src/driver.ts']
    const edges = edgesOf(`src/${structure}/`).filter(
      (edge) =>
        !isBuiltIn(edge.to) && !isDependency(edge) && !allowed.some((path) => edge.to.startsWith(path)),
    )
    holds(RULES.structure, arrows(edges))
  }
})

test('every folder of the library is a structure or one of those that all structures share', () => {
  const folders = new Set(sources.flatMap((path) => /^src\/([^/]+)\//.exec(path)?.[1] ?? []))
  holds(
    RULES.structure,
    [...folders].filter((folder) => !structures.includes(folder) && !SHARED_FOLDERS.has(folder)),
  )
})

test('every operation is called by its structure', () => {
  for (const structure of structures) {
    const own = sources.filter((path) => path.startsWith(`src/${structure}/`))
    const called = new Set(
      own.flatMap((path) => namesImported(textOf(ROOT, path), `../generated/${structure}.ts`)),
    )
    const missing = operations.filter((path) => {
      const [, of, file = ''] = path.split('/')
      return of === structure && !called.has(camel(file.replace('.lua', '')))
    })
    holds(RULES.called, missing)
  }
})

test('a structure asks for the oldest server that its scripts can run on', () => {
  for (const [structure, { since }] of Object.entries(contract.structures)) {
    const own = sources.filter((path) => path.startsWith(`src/${structure}/`))
    const asked = own.flatMap((path) => [...textOf(ROOT, path).matchAll(/\bsince\b\W+'([\d.]+)'/gi)])
    expect(new Set(asked.map(([, version]) => version)), structure).toEqual(new Set([since]))
  }
})

function namesImported(text: string, from: string): string[] {
  const statements = text.matchAll(/^import \{([^}]*)\} from '([^']+)'/gm)
  return [...statements].flatMap(([, names = '', file]) =>
    file?.endsWith(from) === true ? names.split(',').map((name) => name.trim().split(' as ')[0] ?? '') : [],
  )
}

test('the facade imports every structure and decides nothing', () => {
  const text = textOf(ROOT, 'src/perilune.ts')
  const wanted = structures.flatMap((name) => [`./${publicFileOf(name).slice('src/'.length)}`])
  holds(
    RULES.facade,
    wanted.filter((file) => !text.includes(`'${file}'`)),
  )
  holds(RULES.facade, text.match(/\b(?:if|for|while|switch|catch)\b *\(|\?\?|\s\?\s/g) ?? [])
  const above = edgesOf('src/').filter(({ from, to }) => {
    return to === 'src/index.ts' || (to === 'src/perilune.ts' && from !== 'src/index.ts')
  })
  holds(RULES.facade, arrows(above))
})

test('the middleware depends on the structures that it serves, and nothing depends on it', () => {
  const allowed = ['src/middleware/', 'src/cache/', 'src/once/', 'src/rate-limit/', 'src/runtime/']
  const edges = edgesOf('src/middleware/').filter(
    ({ to }) => !isBuiltIn(to) && !allowed.some((path) => to.startsWith(path)),
  )
  holds(RULES.middleware, arrows(edges))
  const users = edgesOf('src/').filter(({ from, to }) => {
    return to.startsWith('src/middleware/') && !from.startsWith('src/middleware/')
  })
  holds(RULES.middleware, arrows(users))
})

test('stores for other packages depend on the cache, and nothing depends on them', () => {
  const allowed = ['src/stores/', 'src/cache/', 'src/runtime/']
  const edges = edgesOf('src/stores/').filter(
    ({ to }) => !isBuiltIn(to) && !allowed.some((path) => to.startsWith(path)),
  )
  const users = edgesOf('src/').filter(({ from, to }) => {
    return to.startsWith('src/stores/') && !from.startsWith('src/stores/')
  })
  expect(edgesOf('src/stores/')).not.toEqual([])
  holds(RULES.stores, arrows([...edges, ...users]))
})

test('sinks depend on the port of counters, and nothing depends on them', () => {
  const ports = ['src/counters/sink.ts', 'src/counters/count-source.ts', 'src/counters/errors.ts']
  const allowed = ['src/sinks/', ...ports, 'src/runtime/']
  const edges = edgesOf('src/sinks/').filter(({ to }) => !allowed.some((path) => to.startsWith(path)))
  const users = edgesOf('src/').filter(({ from, to }) => {
    return to.startsWith('src/sinks/') && !from.startsWith('src/sinks/')
  })
  expect(edgesOf('src/sinks/')).not.toEqual([])
  holds(RULES.sinks, arrows([...edges, ...users]))
})

test('generated modules of users depend on the runtime, and nothing depends on them', () => {
  const allowed = ['src/scripts/', 'src/runtime/', 'src/driver.ts']
  const edges = edgesOf('src/scripts/').filter(({ to }) => !allowed.some((path) => to.startsWith(path)))
  const users = edgesOf('src/').filter(({ from, to }) => {
    return to.startsWith('src/scripts/') && !from.startsWith('src/scripts/')
  })
  expect(edgesOf('src/scripts/')).not.toEqual([])
  holds(RULES.scripts, arrows([...edges, ...users]))
})

test('the testing module needs no test runner', () => {
  const edges = edgesOf('src/testing/').filter(({ to }) => {
    const allowed = ['src/testing/', 'src/runtime/', 'src/driver.ts', 'lua/contract.json']
    return !isBuiltIn(to) && !allowed.some((path) => to.startsWith(path))
  })
  holds(RULES.testing, arrows(edges))
})

test('server and examples import the library by its public names', () => {
  const edges = [...edgesOf('server/'), ...edgesOf('examples/')]
  holds(RULES.outside, arrows(edges.filter(({ to }) => to.startsWith('src/') || to.startsWith('lua/'))))
})

test('generated files depend on the port and the runtime', () => {
  const edges = edgesOf('src/generated/').filter(
    ({ to }) => to !== 'src/driver.ts' && to !== 'src/generated/shared.ts' && !to.startsWith('src/runtime/'),
  )
  holds(RULES.generated, arrows(edges))
  const unmarked = filesIn(ROOT, 'src/generated', '.ts').filter(
    (path) => !textOf(ROOT, path).startsWith('// Generated by npm run generate'),
  )
  holds(RULES.generated, unmarked)
})

test('there is no import cycle', () => {
  const graph = new Map([...imports].map(([path, own]) => [path, own.flatMap(({ file }) => file ?? [])]))
  holds(RULES.cycles, findCycle(graph) ?? [])
})

test('no file has a meaningless name', () => {
  const nameless = /\/(?:types|interfaces|utils|helpers|common)(?:\/|\.[a-z.]+$)/
  holds(
    RULES.nameless,
    files.filter((path) => nameless.test(path)),
  )
})

test('no signal is combined from others without being detached from them later', () => {
  const ours = sources.filter((path) => path.startsWith('src/') || path.startsWith('server/'))
  holds(
    RULES.signals,
    ours.filter((path) => /AbortSignal\s*\.\s*any\s*\(/.test(textOf(ROOT, path))),
  )
})

test('the library needs only Node, the given client, and croner for its queue', () => {
  expect(manifest.dependencies, RULES.dependencies).toEqual({ croner: cronerManifest.version })
  expect(cronerManifest, RULES.dependencies).not.toHaveProperty('dependencies')
  const packages = edgesOf('src/').filter(
    ({ from, to }) => !isBuiltIn(to) && !to.startsWith('src/') && !from.startsWith('src/drivers/'),
  )
  holds(RULES.dependencies, arrows(packages.filter((edge) => !isDependency(edge))))
})

const parts = measureParts(ROOT)

test('half of the functions are under 10 lines, 95 % under 30, none over 60', () => {
  const functions = parts.filter(({ name }) => !name.startsWith('lua')).flatMap((part) => part.functions)
  const lines = functions.map(linesOf)
  expect(lines.length, 'functions that were measured').toBeGreaterThan(500)
  holds(RULES.functions, tooLong(functions, 60))
  expect(percentile(lines, 95), RULES.functions).toBeLessThan(30)
  expect(median(lines), RULES.functions).toBeLessThan(10)
})

test('85 % of the TypeScript files are under 200 lines, none over 400', () => {
  for (const { name, files: measured } of parts.filter((part) => !part.name.startsWith('lua'))) {
    holds(RULES.files, tooLong(measured, 400))
    if (name !== 'tests') holds(RULES.files, tooManyOver(measured, 200, 0.15))
  }
})

test('90 % of the operations in Lua are under 60 lines after their declarations, none over 120 in total', () => {
  const measured = operations.map((file) => ({ file, line: 1, lines: linesOfOperation(textOf(ROOT, file)) }))
  const whole = operations.map((file) => ({
    file,
    line: 1,
    lines: textOf(ROOT, file).split('\n').length - 1,
  }))
  holds(RULES.operations, tooLong(whole, 120))
  holds(RULES.operations, tooManyOver(measured, 60, 0.1))
})

test('no function of Lua has more than six parameters', () => {
  const counted = lua.flatMap((file) => parametersOf(textOf(ROOT, file)).map((each) => ({ file, ...each })))
  expect(counted.length).toBeGreaterThan(400)
  const wide = counted.filter(({ count }) => count > 6)
  holds(
    RULES.parameters,
    wide.map(({ file, line, name, count }) => `${file}:${line}: ${name ?? 'a function'} has ${count}`),
  )
})

test('the number of modules is limited', () => {
  const modules = lua.filter((path) => path.startsWith('lua/shared/'))
  expect(modules.length).toBeGreaterThan(20)
  expect(modules.length, RULES.modules).toBeLessThanOrEqual(80)
  const ofQueue = modules.filter((file) => file.startsWith('lua/shared/queue/'))
  expect(ofQueue.length, RULES.modules).toBeLessThanOrEqual(20)
})

/** Those over the limit, if they are more than such a share of all. */
function tooManyOver(measured: readonly Measured[], limit: number, share: number): string[] {
  const over = tooLong(measured, limit)
  return over.length > measured.length * share ? over : []
}

function tooLong(measured: readonly Measured[], limit: number): string[] {
  return measured
    .filter(({ lines }) => lines > limit)
    .map(({ file, line, lines }) => `${file}:${line} has ${lines} lines, over ${limit}`)
}
