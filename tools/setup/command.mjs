import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { root } from './node-version.mjs'

/** Setting up is not possible. The message says what to do. */
export class SetupError extends Error {}

/** Runs a program without input. Its exit code and all that it wrote; nothing is shown. */
export function run(command, args, { cwd = root, env = {} } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    child.stdout.on('data', (data) => (output += data))
    child.stderr.on('data', (data) => (output += data))
    child.once('error', (error) => resolve({ code: 127, output: error.message }))
    child.once('close', (code) => resolve({ code: code ?? 1, output }))
  })
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

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
