import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import {
  linesOfOperation,
  type Measured,
  measureFiles,
  measureFunctions,
  median,
  percentile,
} from './architecture/sizes.ts'
import { filesIn, findCycle, importsOf, textOf } from './architecture/source-files.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FOLDERS = ['src', 'server', 'tools', 'test', 'bench', 'examples']
const SHARED_FOLDERS = new Set(['drivers', 'generated', 'middleware', 'runtime', 'testing'])

const files = FOLDERS.flatMap((folder) => filesIn(ROOT, folder, '.ts'))
const sources = files.filter((path) => !path.endsWith('.test.ts'))
const operations = filesIn(ROOT, 'lua', '.lua').filter((path) => !path.startsWith('lua/shared/'))
const structures = [...new Set(operations.map((path) => path.split('/')[1] ?? ''))]

const imports = new Map(files.map((path) => [path, importsOf(path, textOf(ROOT, path))]))

interface Edge {
  readonly from: string
  /** A path from the root, or the name of a package. */
  readonly to: string
  readonly typeOnly: boolean
}

/** What the files below a folder import, test files left out. */
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

function isBuiltIn(to: string): boolean {
  return to.startsWith('node:')
}

const RULES = {
  port: 'rule 2: src/driver.ts imports nothing',
  drivers: 'rule 2: src/drivers import src/driver.ts, their own folder, and the types of one client library',
  runtime: 'rule 3: src/runtime imports src/driver.ts and its own folder, and never names a structure',
  structure:
    'rule 4: src/<structure> imports src/runtime, its own folder and its own part of src/generated, never another structure',
  facade: 'rule 5: src/index.ts imports every structure and contains no logic; nothing below it imports it',
  middleware:
    'rule 5: src/middleware imports once, rate-limit, src/runtime and itself; nothing in src imports it',
  testing:
    'rule 6: src/testing imports src/driver.ts, src/runtime, itself and the contract; no structure, no test runner',
  outside: 'rule 7: server and examples import the library by its public names only',
  generated:
    'rule 8: generated files import src/driver.ts and src/runtime only, and say that they are generated',
  cycles: 'rule 10: there is no import cycle, type-only imports included',
  names: 'rule 10: no file is called types, interfaces, utils, helpers or common',
  dependencies: 'rule 11: the library has no dependency',
  size: 'rule 12: functions stay under 60 lines, 95 % of them under 30, half of them under 10; files under 400',
  operation: 'rule 12: an operation in Lua stays under 120 lines behind its head and declarations',
}

test('the port imports nothing', () => {
  holds(RULES.port, arrows(edgesOf('src/driver.ts')))
})

test('a driver imports the port, its own folder and the types of one client library', () => {
  const outside = edgesOf('src/drivers/').filter(
    ({ to }) => !isBuiltIn(to) && to !== 'src/driver.ts' && !to.startsWith('src/drivers/'),
  )
  const libraries = outside.filter(({ to, typeOnly }) => typeOnly && ['ioredis', 'redis'].includes(to))
  holds(RULES.drivers, arrows(outside.filter((edge) => !libraries.includes(edge))))
  const mixed = libraries.filter(({ from, to }) => to !== (from.includes('node-redis') ? 'redis' : 'ioredis'))
  holds(RULES.drivers, arrows(mixed))
})

test('the runtime knows the port, and no structure', () => {
  const edges = edgesOf('src/runtime/').filter(
    ({ to }) => !isBuiltIn(to) && to !== 'src/driver.ts' && !to.startsWith('src/runtime/'),
  )
  holds(RULES.runtime, arrows(edges))
  const name = new RegExp(`(['"\`])(?:${structures.join('|')})\\1`)
  const naming = sources.filter((path) => path.startsWith('src/runtime/') && name.test(textOf(ROOT, path)))
  holds(RULES.runtime, naming)
})

test('no structure imports another one', () => {
  for (const structure of structures) {
    const allowed = [`src/${structure}/`, 'src/runtime/', `src/generated/${structure}.ts`, 'src/driver.ts']
    const edges = edgesOf(`src/${structure}/`).filter(
      ({ to }) => !isBuiltIn(to) && !allowed.some((path) => to.startsWith(path)),
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

test('the facade imports every structure and decides nothing', () => {
  const text = textOf(ROOT, 'src/index.ts')
  const missing = structures.filter((structure) => !text.includes(`'./${structure}/${structure}.ts'`))
  holds(RULES.facade, missing)
  holds(RULES.facade, text.match(/\b(?:if|for|while|switch|catch)\b *\(|\?\?|\s\?\s/g) ?? [])
  holds(RULES.facade, arrows(edgesOf('src/').filter(({ to }) => to === 'src/index.ts')))
})

test('the middleware stands on what it serves, and nothing stands on it', () => {
  const allowed = ['src/middleware/', 'src/once/', 'src/rate-limit/', 'src/runtime/']
  const edges = edgesOf('src/middleware/').filter(
    ({ to }) => !isBuiltIn(to) && !allowed.some((path) => to.startsWith(path)),
  )
  holds(RULES.middleware, arrows(edges))
  const users = edgesOf('src/').filter(({ from, to }) => {
    return to.startsWith('src/middleware/') && !from.startsWith('src/middleware/')
  })
  holds(RULES.middleware, arrows(users))
})

test('what users test with needs no test runner', () => {
  const edges = edgesOf('src/testing/').filter(({ to }) => {
    const allowed = ['src/testing/', 'src/runtime/', 'src/driver.ts', 'lua/contract.json']
    return !isBuiltIn(to) && !allowed.some((path) => to.startsWith(path))
  })
  holds(RULES.testing, arrows(edges))
})

test('server and examples know the library by its public names', () => {
  const edges = [...edgesOf('server/'), ...edgesOf('examples/')]
  holds(RULES.outside, arrows(edges.filter(({ to }) => to.startsWith('src/') || to.startsWith('lua/'))))
})

test('generated files stand on the port and the runtime', () => {
  const edges = edgesOf('src/generated/').filter(
    ({ to }) => to !== 'src/driver.ts' && !to.startsWith('src/runtime/'),
  )
  holds(RULES.generated, arrows(edges))
  const unmarked = filesIn(ROOT, 'src/generated', '.ts').filter(
    (path) => !textOf(ROOT, path).startsWith('// Generated by npm run generate'),
  )
  holds(RULES.generated, unmarked)
})

test('no import leads back to where it began', () => {
  const graph = new Map([...imports].map(([path, own]) => [path, own.flatMap(({ file }) => file ?? [])]))
  holds(RULES.cycles, findCycle(graph) ?? [])
})

test('no file has a name that says nothing', () => {
  const nameless = /\/(?:types|interfaces|utils|helpers|common)(?:\/|\.[a-z.]+$)/
  holds(
    RULES.names,
    files.filter((path) => nameless.test(path)),
  )
})

test('the library needs nothing but Node and the client it is given', () => {
  const { dependencies }: { dependencies?: object } = JSON.parse(textOf(ROOT, 'package.json'))
  holds(RULES.dependencies, Object.keys(dependencies ?? {}))
  const packages = edgesOf('src/').filter(
    ({ from, to }) => !isBuiltIn(to) && !to.startsWith('src/') && !from.startsWith('src/drivers/'),
  )
  holds(RULES.dependencies, arrows(packages))
})

test('functions and files are short', () => {
  const folders = FOLDERS.filter((folder) => filesIn(ROOT, folder, '.ts').length > 0)
  const functions = measureFunctions(ROOT, folders).filter(isWritten)
  const lines = functions.map((each) => each.lines)
  expect(lines.length, 'functions that were measured').toBeGreaterThan(500)
  holds(RULES.size, tooLong(functions, 60))
  holds(RULES.size, tooLong(measureFiles(ROOT, folders).filter(isWritten), 400))
  expect(percentile(lines, 95), RULES.size).toBeLessThan(30)
  expect(median(lines), RULES.size).toBeLessThan(10)
})

test('an operation in Lua fits on two screens', () => {
  const measured = operations.map((place) => ({ place, lines: linesOfOperation(textOf(ROOT, place)) }))
  holds(RULES.operation, tooLong(measured, 120))
})

function tooLong(measured: readonly Measured[], limit: number): string[] {
  return measured
    .filter(({ lines }) => lines > limit)
    .map(({ place, lines }) => `${place} has ${lines} lines, over ${limit}`)
}

function isWritten({ place }: Measured): boolean {
  return !place.startsWith('src/generated/') && !place.includes('.test.ts')
}
