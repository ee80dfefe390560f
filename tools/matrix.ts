// `npm run matrix`: the tests on every server that Debian has as a package, fetched and unpacked without installing it.
// A red test that tools/matrix/known.json does not explain, and a server that cannot be had, fail the run.

import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { explain, readArguments } from './arguments.ts'
import { Archive, KEYRING, MIRROR } from './matrix/archive.ts'
import { runCell } from './matrix/cell.ts'
import { type Cell, Kept } from './matrix/kept.ts'
import { whyRed } from './matrix/known.ts'
import { MOST_SHOWN, pageOf } from './matrix/page.ts'
import { cacheFolder, provide, type Server, type ServerPin } from './matrix/server.ts'
import table from './matrix/servers.json' with { type: 'json' }
import { SUITES } from './matrix/suites.ts'
import { stopAll } from './mutate/program.ts'

const USAGE = `npm run matrix -- [--server redis-8.0,valkey-9.1] [--suite vectors,drivers] [--rows some] [--list] [--write-page]
  --rows        all (the default) or some rows of large tables, as npm test
  --list        shows servers and suites, and runs nothing
  --write-page  writes docs/proof/matrix.md from the last run of each cell on this machine; with --no-run, from earlier runs alone`

const text = { type: 'string' } as const
const flag = { type: 'boolean', default: false } as const
const { values } = readArguments(USAGE, {
  options: {
    server: text,
    suite: text,
    rows: { type: 'string', default: 'all' },
    list: flag,
    'write-page': flag,
    'no-run': flag,
  },
})
if (!['all', 'some'].includes(values.rows)) explain(USAGE, 'rows are all or some')

const root = join(import.meta.dirname, '..')
const pins: readonly ServerPin[] = table
const servers = chosen(
  values.server,
  pins.map(({ name }) => name),
  'server',
)
const suites = chosen(values.suite, Object.keys(SUITES), 'suite')
const kept = new Kept(join(cacheFolder(), 'matrix.json'))

function chosen(value: string | undefined, known: readonly string[], what: string): readonly string[] {
  const names = value?.split(',') ?? known
  const stranger = names.find((name) => !known.includes(name))
  if (stranger !== undefined) explain(USAGE, `there is no ${what} ${stranger}: one of ${known.join(', ')}`)
  return names
}

/** Whether all of it is as it should be. */
async function runServer(pin: ServerPin, archive: Archive): Promise<boolean> {
  const server = await provide(pin, archive, cacheFolder()).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error)
    console.log(`${pin.name}: FAILED, could not be had: ${reason}`)
    kept.miss({ server: pin.name, reason })
    return null
  })
  if (server === null) return false
  for (const move of server.moved) console.log(`${pin.name}: ${move}`)
  let isGood = true
  for (const suite of suites) isGood = (await runSuite(pin.name, server, suite)) && isGood
  return isGood
}

async function runSuite(name: string, server: Server, suite: string): Promise<boolean> {
  const began = performance.now()
  const outcome = await runCell(server, SUITES[suite] ?? [], values.rows)
  const about = { server: name, suite, version: server.version, moved: server.moved, rows: values.rows }
  const cell = { ...about, ...outcome, commit: commit(), date: new Date().toISOString().slice(0, 10) }
  kept.add(cell)
  tell(cell, performance.now() - began)
  return cell.reds.every((red) => whyRed(red, name) !== null)
}

function tell({ server, version, suite, passed, reds, unsteady }: Cell, ms: number): void {
  const seconds = Math.round(ms / 1000)
  console.log(`${server} (${version}), ${suite}: ${passed} passed, ${reds.length} failed (${seconds} s)`)
  for (const red of reds.slice(0, MOST_SHOWN)) console.log(`  ${red}: ${whyRed(red, server) ?? 'NOT KNOWN'}`)
  for (const title of unsteady.slice(0, MOST_SHOWN)) console.log(`  UNSTEADY ${title}`)
}

/** Says so where the code or its tests have changes besides. */
function commit(): string {
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  const changes = git('status', '--porcelain', '--', 'src', 'lua', 'test', 'bindings')
  return `${git('rev-parse', '--short', 'HEAD')}${changes === '' ? '' : ' with changes'}`
}

function writePage(): void {
  const folder = join(root, 'docs/proof')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'matrix.md'), pageOf(pins, Object.keys(SUITES), kept.results))
}

async function runAll(): Promise<boolean> {
  const archive = new Archive(MIRROR, KEYRING, console.log)
  let isGood = true
  for (const pin of pins.filter(({ name }) => servers.includes(name)))
    isGood = (await runServer(pin, archive)) && isGood
  return isGood
}

if (values.list) {
  for (const { name, suite, packages } of pins) console.log(`${name}: ${packages[0]?.version} of ${suite}`)
  console.log(`suites: ${Object.keys(SUITES).join(', ')}`)
} else {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      stopAll()
      process.exit(1)
    })
  }
  if (!values['no-run'] && !(await runAll())) process.exitCode = 1
  if (values['write-page']) writePage()
}
