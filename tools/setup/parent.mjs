// Started by npm, a process has no reason to outlive it. npm passes on the signals that it gets, but can say nothing
// when it is killed, or when a shell between them passes nothing on.

import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'

const LOOK_MS = 200

/** Ends this process in good order once the process that started it has ended, if that was npm or its shell. */
export function endWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  if (isLeft(parent)) end()
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    end()
  }, LOOK_MS)
  timer.unref()
}

function end() {
  process.stderr.write('npm, which started this process, has ended: ending as well\n')
  process.kill(process.pid, 'SIGTERM')
}

/**
 * Whether npm was gone before this process could look, and another one became the parent. Only Linux shows it: the parent is no npm, and
 * the leader of the process group has ended, as npm does in a terminal.
 */
function isLeft(parent) {
  try {
    const command = readFileSync(`/proc/${parent}/cmdline`, 'utf8')
    // The shell of npm has our command on its line.
    if (/npm|yarn|bun/.test(command) || command.includes(basename(process.argv[1] ?? ''))) return false
    const status = readFileSync('/proc/self/stat', 'utf8')
    const [, , group] = status.slice(status.lastIndexOf(')') + 2).split(' ')
    return !existsSync(`/proc/${group}`)
  } catch {
    return false
  }
}
