// npm run bench -- [<name> …] [--list] [--quick] [--json]
// Runs bench/<name>.bench.ts, all of them without a name, each on a server of its own.

import { readdirSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { Redis } from 'ioredis'
import { startRedis } from '../test/servers/redis.ts'
import { Bench, type BenchModule } from './harness/bench.ts'
import { environment } from './harness/environment.ts'
import { printJson, printTable } from './harness/print.ts'

const ENDING = '.bench.ts'

interface Flags {
  json: boolean
  quick: boolean
}

function benchNames(): string[] {
  const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith(ENDING))
  return files.map((file) => file.slice(0, -ENDING.length)).toSorted()
}

/** The first line of a bench is its question. */
function questionOf(name: string): string {
  const text = readFileSync(new URL(`${name}${ENDING}`, import.meta.url), 'utf8')
  return text.slice(0, text.indexOf('\n')).replace(/^\/\/ (Question: )?/, '')
}

async function runBench(name: string, { json, quick }: Flags): Promise<void> {
  const bench: BenchModule = await import(new URL(`${name}${ENDING}`, import.meta.url).href)
  const server = await startRedis()
  const client = new Redis(server.port)
  try {
    printHead(name, { ...(await environment(client)) }, json)
    await bench.run(new Bench(server, client, json ? printJson(name) : printTable, quick))
  } finally {
    client.disconnect()
    await server.stop()
  }
}

function printHead(name: string, about: Record<string, string | number>, json: boolean): void {
  if (json) return console.log(JSON.stringify({ bench: name, environment: about }))
  console.log(questionOf(name))
  for (const [what, value] of Object.entries(about)) console.log(`  ${what.padEnd(10)} ${value}`)
}

const { values, positionals } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
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
