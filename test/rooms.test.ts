// A file is a concept and a folder is a room: rules 15 and 16 of ARCHITECTURE.md.

import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { filesIn, findCycle, importsOf, textOf } from '../tools/measure/source-files.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const MOST_FILES = 25
const MOST_FLOORS = 9

/** Folders that are still over a limit, each with what it has now: only ever less. */
const STILL_OVER: Readonly<Record<string, { readonly files?: number; readonly floors?: number }>> = {
  'src/cache': { files: 38, floors: 16 },
  'src/counters': { floors: 14 },
  'src/feed': { files: 29, floors: 11 },
  'src/queue': { files: 82, floors: 20 },
}

/** Names that stand for two concepts still. */
const STILL_TWICE: readonly string[] = [
  'Asked Asking Attempt Backlog Backoff Batch ClaimOptions ClaimTerms Connection Ear Ears Election',
  'Extension Found Handler Kept LaneTerms LineTerms Listening Outcome Outgoing Partition',
  'PartitionClaims Place Refused Send Settle Source Standing Step Terms Told Waiting',
].flatMap((names) => names.split(' '))

/** How many names of files in -ing each folder has still: only ever less. */
const STILL_IN_ING: Readonly<Record<string, number>> = {
  'src/autocomplete': 3,
  'src/cache': 9,
  'src/collection': 4,
  'src/counters': 7,
  'src/drivers/channels': 1,
  'src/drivers/wire': 2,
  'src/feed': 10,
  'src/middleware/policies': 2,
  'src/middleware/responses': 1,
  'src/once': 6,
  'src/queue': 20,
  'src/rate-limit': 1,
  'src/runtime/errors': 1,
  'src/runtime/keeper': 1,
  'src/runtime/leases': 1,
  'src/runtime/subscriptions': 1,
  'src/sinks/sql': 1,
  'src/stores': 1,
  'src/testing': 1,
}

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

/** Those over their limit, and those whose limit may be lowered. */
function beyond(folder: string, count: number, limit: number, still: number | undefined): string[] {
  if (count > (still ?? limit)) return [`${folder} has ${count}, over ${still ?? limit}`]
  return still !== undefined && count < still ? [`${folder} has ${count}: lower its ${still} here`] : []
}

test('a folder has at most 25 files, tests apart', () => {
  const over = [...folders].flatMap(([folder, files]) =>
    beyond(folder, files.length, MOST_FILES, STILL_OVER[folder]?.files),
  )
  holds('rule 15: a folder has at most 25 source files', over)
})

test('the longest chain of imports inside a folder has at most 9 files', () => {
  const over = [...folders].flatMap(([folder, files]) =>
    beyond(folder, floorsOf(files), MOST_FLOORS, STILL_OVER[folder]?.floors),
  )
  holds('rule 15: the longest chain of imports inside a folder has at most 9 files', over)
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

test('no folder leads back to one that uses it', () => {
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

test('an exported name of a type is one concept', () => {
  const files = groupedBy(sources.flatMap(typesOf), ({ name }) => name)
  const twice = [...files].filter(([, found]) => found.length > 1)
  holds(
    'rule 16: no two files export a type of the same name',
    twice
      .filter(([name]) => !STILL_TWICE.includes(name))
      .map(([name, found]) => `${name}: ${found.map(({ path }) => path).join(', ')}`),
  )
  const names = new Set(twice.map(([name]) => name))
  holds(
    'rule 16: what stands for one concept by now is taken off the list here',
    STILL_TWICE.filter((name) => !names.has(name)),
  )
})

function typesOf(path: string): { name: string; path: string }[] {
  const exported = textOf(ROOT, path).matchAll(
    /^export (?:declare )?(?:abstract )?(?:interface|type|class) (\w+)/gm,
  )
  return [...exported].map(([, name = '']) => ({ name, path }))
}

test('a file is named as a thing, or as what is done, and not as a doing', () => {
  const doing = groupedBy(
    sources.filter((path) => path.endsWith('ing.ts') && !NO_DOING.has(basename(path, '.ts'))),
    (path) => dirname(path),
  )
  const rooms = new Set([...doing.keys(), ...Object.keys(STILL_IN_ING)])
  holds(
    'rule 16: no name of a file ends in -ing',
    [...rooms].flatMap((folder) =>
      beyond(folder, doing.get(folder)?.length ?? 0, 0, STILL_IN_ING[folder]).map((each) => {
        return `${each}: ${doing.get(folder)?.join(', ') ?? ''}`
      }),
    ),
  )
})
