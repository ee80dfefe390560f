// npm run bench -- [<name> …] [--list] [--quick] [--json] [--charts] [--write-results]
// Runs bench/<name>.bench.ts, all of them without a name, each on a server of its own.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import { startRedis } from '../test/servers/redis.ts'
import { readArguments } from '../tools/arguments.ts'
import { Bench, type BenchModule } from './harness/bench.ts'
import { environment } from './harness/environment.ts'
import { printJson, printTable } from './harness/print.ts'
import { recording, type Table } from './harness/recorded.ts'
import { toEnvironment, writeResults } from './harness/results.ts'

const USAGE = 'npm run bench -- [<name> …] [--list] [--quick] [--json] [--charts] [--write-results]'
const ENDING = '.bench.ts'
const RESULTS = new URL('RESULTS.md', import.meta.url)
const CHARTS = new URL('../docs/charts/', import.meta.url)
const PROOFS = new URL('../docs/proof/', import.meta.url)

interface Flags {
  json: boolean
  quick: boolean
  charts: boolean
  'write-results': boolean
}

function benchNames(): string[] {
  const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith(ENDING))
  return files.map((file) => file.slice(0, -ENDING.length)).toSorted()
}

/** The head of a bench begins with its question. */
function questionOf(name: string): string {
  const text = readFileSync(new URL(`${name}${ENDING}`, import.meta.url), 'utf8')
  const question = text.slice(0, text.indexOf('?') + 1)
  return question.replace(/^\/\/ Question: /, '').replaceAll('\n// ', ' ')
}

async function runBench(name: string, flags: Flags): Promise<void> {
  const bench: BenchModule = await import(new URL(`${name}${ENDING}`, import.meta.url).href)
  const server = await startRedis()
  const client = new Redis(server.port)
  const tables: Table[] = []
  try {
    const about = { ...(await environment(client)) }
    printHead(name, about, flags.json)
    const print = recording(flags.json ? printJson(name) : printTable, tables)
    await bench.run(new Bench(server, client, print, flags.quick))
    if (flags['write-results']) {
      if (bench.proofs === undefined) writeResults(RESULTS, name, about, tables)
      else writeFiles(PROOFS, bench.proofs(tables, toEnvironment(about)))
    }
    if (flags.charts) writeFiles(CHARTS, bench.charts?.(tables) ?? {})
  } finally {
    client.disconnect()
    await server.stop()
  }
}

function writeFiles(folder: URL, files: Record<string, string>): void {
  mkdirSync(folder, { recursive: true })
  for (const [file, text] of Object.entries(files)) writeFileSync(new URL(file, folder), text)
}

function printHead(name: string, about: Record<string, string | number>, json: boolean): void {
  if (json) return console.log(JSON.stringify({ bench: name, environment: about }))
  console.log(questionOf(name))
  for (const [what, value] of Object.entries(about)) console.log(`  ${what.padEnd(10)} ${value}`)
}

const { values, positionals } = readArguments(USAGE, {
  options: {
    json: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    charts: { type: 'boolean', default: false },
    'write-results': { type: 'boolean', default: false },
  },
  allowPositionals: true,
})
const known = benchNames()
const unknown = positionals.filter((name) => !known.includes(name))
if (values.list) {
  for (const name of known) console.log(`${name.padEnd(20)} ${questionOf(name)}`)
} else if (unknown.length > 0) {
  console.error(`no such bench: ${unknown.join(', ')}; there are: ${known.join(', ')}`)
  process.exitCode = 1
} else {
  for (const name of positionals.length > 0 ? positionals : known) await runBench(name, values)
}
