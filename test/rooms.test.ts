// A file is a concept and a folder is a room: rules 15 and 16 of ARCHITECTURE.md.

import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { filesIn, findCycle, importsOf, textOf } from '../tools/measure/source-files.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const MOST_FILES = 25
const MOST_FLOORS = 9

/** Words in -ing that are things, or say what things are like. */
const NO_DOING = new Set(['greeting', 'ping', 'recurring'])

const sources = ['src', 'server']
  .flatMap((folder) => filesIn(ROOT, folder, '.ts'))
  .filter((path) => !path.endsWith('.test.ts') && !path.startsWith('src/generated/'))
const imports = new Map(
  sources.map((path) => [path, importsOf(path, textOf(ROOT, path)).flatMap(({ file }) => file ?? [])]),
)
const folders = groupedBy(sources, (path) => dirname(path))

function groupedBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return groups
}

/** Fails with the rule and all that breaks it. */
function holds(rule: string, offenders: readonly string[]): void {
  expect(offenders, [`ARCHITECTURE.md: ${rule}`, ...offenders].join('\n')).toEqual([])
}

test('a folder has at most 25 files, not counting tests', () => {
  const over = [...folders].filter(([, files]) => files.length > MOST_FILES)
  holds(
    'rule 15: a folder has at most 25 source files',
    over.map(([folder, files]) => `${folder} has ${files.length}`),
  )
})

test('the longest chain of imports inside a folder has at most 9 files', () => {
  const floors = [...folders].map(([folder, files]) => ({ folder, floors: floorsOf(files) }))
  holds(
    'rule 15: the longest chain of imports inside a folder has at most 9 files',
    floors.filter((each) => each.floors > MOST_FLOORS).map((each) => `${each.folder} has ${each.floors}`),
  )
})

function floorsOf(files: readonly string[]): number {
  const known = new Map<string, number>()
  const floorOf = (path: string): number => {
    const floor = known.get(path)
    if (floor !== undefined) return floor
    const below = (imports.get(path) ?? []).filter((to) => files.includes(to))
    const found = 1 + Math.max(0, ...below.map(floorOf))
    known.set(path, found)
    return found
  }
  return Math.max(...files.map(floorOf))
}

test('no folder imports, directly or not, a folder that uses it', () => {
  const cycles = [...new Set([...folders.keys()].map(roomOf))].flatMap((room) => {
    const graph = new Map(
      [...folders]
        .filter(([folder]) => roomOf(folder) === room)
        .map(([folder, files]) => [folder, foldersUsedBy(folder, files, room)]),
    )
    const cycle = findCycle(graph)
    return cycle === null ? [] : [cycle.join(' -> ')]
  })
  holds('rule 15: imports between the folders of the service, or of one folder of src, make no cycle', cycles)
})

/** The service, or a folder of the library, with all below it. */
function roomOf(folder: string): string {
  return folder.startsWith('server') ? 'server' : folder.split('/').slice(0, 2).join('/')
}

function foldersUsedBy(folder: string, files: readonly string[], room: string): string[] {
  const used = files.flatMap((path) => imports.get(path) ?? []).map((path) => dirname(path))
  return [...new Set(used)].filter((other) => other !== folder && roomOf(other) === room)
}

test('an exported type name is one concept', () => {
  const files = groupedBy(sources.flatMap(typesOf), ({ name }) => name)
  const twice = [...files].filter(([, found]) => found.length > 1)
  holds(
    'rule 16: no two files export a type of the same name',
    twice.map(([name, found]) => `${name}: ${found.map(({ path }) => path).join(', ')}`),
  )
})

function typesOf(path: string): { name: string; path: string }[] {
  const exported = textOf(ROOT, path).matchAll(
    /^export (?:declare )?(?:abstract )?(?:interface|type|class) (\w+)/gm,
  )
  return [...exported].map(([, name = '']) => ({ name, path }))
}

test('a file is named after a thing or a result, not after an activity', () => {
  holds(
    'rule 16: no name of a file ends in -ing',
    sources.filter((path) => path.endsWith('ing.ts') && !NO_DOING.has(basename(path, '.ts'))),
  )
})
