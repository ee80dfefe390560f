// Servers and their directories must not outlive this process, even if it is killed: a second process that notices our
// end cleans up everything that is listed here.
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

type List = 'directory' | 'server'

let guard: ChildProcess | undefined

/** Cleans this up when the process ends. */
export function guardAgainstOurEnd(list: List, value: string | number): void {
  tell('add', list, value)
}

/** It is cleaned up already. */
export function noLongerGuard(list: List, value: string | number): void {
  tell('delete', list, value)
}

function tell(verb: 'add' | 'delete', list: List, value: string | number): void {
  guard ??= startGuard()
  guard.stdin?.write(`${JSON.stringify([verb, list, value])}\n`)
}

function startGuard(): ChildProcess {
  // Detached: the Ctrl-C that ends a test run must not end the guard first.
  const started = spawn(process.execPath, [fileURLToPath(new URL('guard.mjs', import.meta.url))], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  started.unref()
  const { stdin } = started as { stdin: typeof started.stdin & { unref?: () => void } }
  stdin?.unref?.()
  return started
}
