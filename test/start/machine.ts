// A copy of the tools in a folder of its own, with stand-ins for npm and for what npm would install: the tests check
// which steps run, and their messages.
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { findExecutable } from '../../server/engine/executable.ts'

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url))

interface Outcome {
  code: number
  output: string
  lastLine: string
}

export interface Machine {
  write(file: string, text: string): void
  remove(file: string): void
  /** A shell script on PATH. */
  program(name: string, script: string): void
  /** The calls of the stand-ins since the last time. */
  calls(): string[]
  node(script: string, ...args: string[]): Promise<Outcome>
  /** As `node`, with this signal once a program on PATH has written to `calls`. */
  nodeUntilCalled(signal: NodeJS.Signals, script: string): Promise<Outcome>
}

export function setupMachine(): Machine {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'perilune-machine-')))
  onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
  const machine = new TemporaryMachine(home)
  machine.writeProject()
  machine.writePrograms()
  return machine
}

class TemporaryMachine implements Machine {
  readonly #home: string

  constructor(home: string) {
    this.#home = home
  }

  write(file: string, text: string): void {
    const path = join(this.#home, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }

  remove(file: string): void {
    rmSync(join(this.#home, file))
  }

  program(name: string, script: string): void {
    const path = join(this.#home, 'bin', name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  }

  calls(): string[] {
    const file = join(this.#home, 'calls')
    if (!existsSync(file)) return []
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
    rmSync(file)
    return lines
  }

  node(script: string, ...args: string[]): Promise<Outcome> {
    return outcomeOf(this.#spawn(script, args))
  }

  async nodeUntilCalled(signal: NodeJS.Signals, script: string): Promise<Outcome> {
    const child = this.#spawn(script, [])
    const outcome = outcomeOf(child)
    while (!this.#wasCalled() && child.exitCode === null) await sleep(10)
    child.kill(signal)
    return outcome
  }

  #wasCalled(): boolean {
    const file = join(this.#home, 'calls')
    return existsSync(file) && readFileSync(file, 'utf8') !== ''
  }

  #spawn(script: string, args: readonly string[]): ChildProcessByStdio<null, Readable, Readable> {
    return spawn(process.execPath, [join(this.#home, 'project', script), ...args], {
      env: { PATH: join(this.#home, 'bin'), HOME: this.#home },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }

  writeProject(): void {
    for (const part of ['tools/setup', 'tools/start.mjs', 'tools/test.mjs']) {
      cpSync(join(REPOSITORY, part), join(this.#home, 'project', part), { recursive: true })
    }
    this.write('project/package.json', '{ "type": "module", "engines": { "node": ">=20.19" } }')
    this.write('project/package-lock.json', '{}')
    this.write('project/src/index.ts', '1')
    this.write('project/server/main.ts', '1')
  }

  writePrograms(): void {
    for (const name of ['mkdir', 'cat', 'cp', 'env', 'chmod']) {
      const real = findExecutable([name], process.env['PATH']) ?? ''
      mkdirSync(join(this.#home, 'bin'), { recursive: true })
      symlinkSync(real, join(this.#home, 'bin', name))
    }
    const programs = ['redis-server', 'postgres', 'mariadbd', 'luacheck', 'sqlite3', 'chromium']
    for (const name of programs) this.program(name, 'exit 0')
    const log = (what: string) =>
      `appendFileSync(${JSON.stringify(join(this.#home, 'calls'))}, ${what} + '\\n')`
    this.write(
      'tsdown.mjs',
      `import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
const [target, file] = process.cwd().endsWith('server') ? ['service', 'main'] : ['library', 'index']
${log("'tsdown ' + target")}
mkdirSync('dist', { recursive: true })
writeFileSync('dist/' + file + '.mjs', 'console.log("service in process", process.argv[1])')`,
    )
    this.write(
      'vitest.mjs',
      `import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
const args = process.argv.slice(2)
const drawn = process.env.PERILUNE_DRAWN === undefined ? [] : ['drawn=' + process.env.PERILUNE_DRAWN]
${log("['vitest', ...args.filter((arg) => !arg.startsWith('--')), ...drawn].join(' ')")}
const report = args.find((arg) => arg.startsWith('--outputFile.json=')).split('=')[1]
const file = ${JSON.stringify(join(this.#home, 'run.json'))}
const [{ text, code }, ...later] = JSON.parse(readFileSync(file, 'utf8'))
if (later.length > 0) writeFileSync(file, JSON.stringify(later))
if (text) writeFileSync(report, JSON.stringify(text))
process.exit(code)`,
    )
    this.program(
      'npm',
      `echo "npm $*" >>"${this.#home}/calls"
mkdir -p node_modules/tsdown/dist node_modules/vitest
cp "${this.#home}/tsdown.mjs" node_modules/tsdown/dist/run.mjs
cp "${this.#home}/vitest.mjs" node_modules/vitest/vitest.mjs`,
    )
  }
}

/** When it has ended, and whatever writes to its output. */
async function outcomeOf(child: ChildProcessByStdio<null, Readable, Readable>): Promise<Outcome> {
  let output = ''
  child.stdout.on('data', (data) => (output += String(data)))
  child.stderr.on('data', (data) => (output += String(data)))
  await once(child, 'close')
  return { code: child.exitCode ?? -1, output, lastLine: output.trimEnd().split('\n').at(-1) ?? '' }
}
