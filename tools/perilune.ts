#!/usr/bin/env node
// The command `perilune`, built as dist/cli.mjs. It lies one folder below the package, as that does.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { CommandError } from './command/error.ts'
import { generate } from './command/generate.ts'

const USAGE = 'perilune generate DIR --out FILE [--check] [--readable]'

const HELP = `${USAGE}
perilune doctor [URL] [--json]

doctor tells whether Perilune will be safe and fast on a Redis; perilune doctor --help says more.

generate compiles DIR/<structure>/<operation>.lua into FILE, a TypeScript module with a typed call for each operation.

  --out FILE   the module to write
  --check      writes nothing; fails when FILE is not what would be written, for CI
  --readable   scripts keep the names and the blanks of their sources
  --help       this
  --version    of perilune

How such a folder is written: docs/guides/write-your-own-script.md of the repository of Perilune.
`

// The reader of a pipe may end before it has read all, as `head` does: the exit code stays what was found.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

const PACKAGE = join(import.meta.dirname, '..')

function run(args: string[]): string {
  const { values, positionals } = parsed(args)
  if (values.help) return HELP.trimEnd()
  if (values.version) return versionOf()
  const [command, folder, ...more] = positionals
  if (command !== 'generate' || folder === undefined || more.length > 0 || values.out === undefined) {
    throw new CommandError(`usage: ${USAGE}\nperilune --help says more`)
  }
  const { out, check, readable } = values
  return generate({ folder, out, check, readable, library: join(PACKAGE, 'lua') })
}

function parsed(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        out: { type: 'string' },
        check: { type: 'boolean', default: false },
        readable: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
        version: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    throw new CommandError((error as Error).message)
  }
}

function versionOf(): string {
  return String(Object(JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'))).version)
}

/** The doctor brings a client of Redis with it, which nothing else here needs. */
async function runDoctor(args: string[]): Promise<void> {
  const { doctor } = await import('./doctor/command.ts')
  process.exitCode = await doctor(args, PACKAGE)
}

const [command, ...rest] = process.argv.slice(2)
try {
  if (command === 'doctor') await runDoctor(rest)
  else console.log(run(process.argv.slice(2)))
} catch (error) {
  if (!(error instanceof CommandError)) throw error
  console.error(error.message)
  process.exitCode = command === 'doctor' ? 2 : 1
}
