import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, closeSync, constants, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { root } from './node-version.mjs'

/** Setting up is not possible. The message says what to do. */
export class SetupError extends Error {}

/** Runs a program without input. Its exit code and all that it wrote; nothing is shown. */
export async function run(command, args, { cwd = root, env = {} } = {}) {
  // Into a file: a pipe that is full for a moment makes some programs give up.
  const folder = mkdtempSync(join(tmpdir(), 'perilune-run-'))
  const file = join(folder, 'output')
  const output = openSync(file, 'w')
  try {
    const options = { cwd, env: { ...process.env, ...env }, stdio: ['ignore', output, output] }
    const code = await codeOf(() => spawn(command, args, options))
    return { code: code ?? 1, output: readFileSync(file, 'utf8') }
  } catch (error) {
    return { code: 127, output: error.message } // no such program
  } finally {
    closeSync(output)
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A signal that ends this process also ends the child, from the moment when the child begins. */
async function codeOf(start) {
  let child
  const end = (signal) => child?.kill(signal)
  process.on('SIGTERM', end).on('SIGINT', end)
  try {
    child = start()
    const [code] = await once(child, 'close')
    return code
  } finally {
    process.off('SIGTERM', end).off('SIGINT', end)
  }
}

/** As `run`; throws `SetupError` with all that it wrote when it fails. */
export async function mustRun(what, command, args, options) {
  const { code, output } = await run(command, args, options)
  if (code !== 0) throw new SetupError(`${output.trimEnd()}\n${what} failed: ${[command, ...args].join(' ')}`)
}

/** True when one of these programs is on PATH. */
export function isOnPath(...names) {
  const directories = (process.env.PATH ?? '').split(delimiter)
  return names.some((name) => directories.some((directory) => isExecutable(join(directory, name))))
}

/** Runs `work`; a `SetupError` ends the process with its message and no stack. */
export async function orExplain(work) {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    console.error(error.message)
    process.exit(1)
  }
}

export function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
