import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Cell, Kept } from './kept.ts'
import { KNOWN, whyRed } from './known.ts'
import { pageOf } from './page.ts'
import type { ServerPin } from './server.ts'
import table from './servers.json' with { type: 'json' }
import { SUITES } from './suites.ts'

const servers: ServerPin[] = ['redis-7.0', 'valkey-9.1'].map((name) => ({
  name,
  suite: 'sid',
  libraries: 'sid',
  packages: [],
}))
const known = [{ servers: ['valkey-9.1'], test: '^a: one$', why: 'Valkey says it in other words.' }]

function cellWith(changes: Partial<Cell> = {}): Cell {
  const about = { server: 'valkey-9.1', suite: 'vectors', version: '9.1.2', moved: [], rows: 'all' }
  const ran = { passed: 7, reds: [], unsteady: [], commit: 'abc', date: '2026-11-30' }
  return { ...about, ...ran, ...changes }
}

function pageWith(...cells: Cell[]): string {
  return pageOf(servers, ['vectors', 'drivers'], { cells, missing: [] }, known)
}

test('a row has what ran, and says what did not', () => {
  const page = pageWith(cellWith())

  expect(page).toContain('| Valkey 9.1.2 | sid (`valkey-9.1`) | 7 | not run |')
  expect(page).toContain('| Redis 7.0 | sid (`redis-7.0`) | not run | not run |')
  expect(page).toContain('- valkey-9.1, vectors: 2026-11-30, commit abc')
  expect(page).not.toContain('## Red')
})

test('a red test has its sentence, and one that no one has explained says so', () => {
  const page = pageWith(cellWith({ reds: ['a: one', 'a: `two`'] }))

  expect(page).toContain('| 7, **2 red** |')
  expect(page).toContain('- valkey-9.1, vectors: `a: one`. Valkey says it in other words.')
  expect(page).toContain("- valkey-9.1, vectors: `a: 'two'`. **No one has explained it.**")
})

test('of many red tests ten are named', () => {
  const page = pageWith(cellWith({ reds: Array.from({ length: 13 }, (_, at) => `a: ${at}`) }))

  expect(page).toContain('`a: 9`')
  expect(page).not.toContain('`a: 10`')
  expect(page).toContain('- valkey-9.1, vectors: 3 more')
})

test('a difference is known on the servers that it names only', () => {
  expect(whyRed('a: one', 'valkey-9.1', known)).toBe('Valkey says it in other words.')
  expect(whyRed('a: one', 'redis-7.0', known)).toBeNull()
  expect(whyRed('a: one more', 'valkey-9.1', known)).toBeNull()
})

test('known differences name servers of the table, and are regular expressions', () => {
  const names = table.map(({ name }) => name)
  for (const { servers: own, test: pattern } of KNOWN) {
    expect(names).toEqual(expect.arrayContaining([...own]))
    expect(() => new RegExp(pattern)).not.toThrow()
  }
})

test('a server that could not be had, and packages that have moved on, are on the page', () => {
  const cells = [cellWith({ moved: ['valkey-server 2 instead of 1'] })]
  const missing = [{ server: 'redis-7.0', reason: 'the mirror answered 404' }]

  const page = pageOf(servers, ['vectors'], { cells, missing }, known)

  expect(page).toContain('- **redis-7.0** could not be had: the mirror answered 404')
  expect(page).toContain('- **valkey-9.1**: valkey-server 2 instead of 1')
})

test('a run in parts is kept: the last of each cell, and none of a server that is missing now', () => {
  const folder = mkdtempSync(join(tmpdir(), 'perilune-kept-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'new/matrix.json')
  const kept = new Kept(file)

  kept.add(cellWith({ passed: 1 }))
  kept.add(cellWith({ suite: 'drivers' }))
  kept.add(cellWith({ passed: 2 }))
  kept.add(cellWith({ server: 'redis-7.0' }))
  kept.miss({ server: 'redis-7.0', reason: 'gone' })

  const { cells, missing } = new Kept(file).results
  expect(cells.map(({ server, suite, passed }) => [server, suite, passed])).toEqual([
    ['valkey-9.1', 'drivers', 7],
    ['valkey-9.1', 'vectors', 2],
  ])
  expect(missing).toEqual([{ server: 'redis-7.0', reason: 'gone' }])
})

test('the structures are those that have scripts', () => {
  expect(SUITES['structures']).toContain('src/rate-limit/')
  expect(SUITES['structures']).toContain('src/catalog/')
  expect(SUITES['structures']).not.toContain('src/runtime/')
})
