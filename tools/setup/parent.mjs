// Started by npm, a process has no reason to outlive it. npm passes on the signals that it gets, but can say nothing when it
// is killed, or when a shell stands between that passes nothing on.

import { readFileSync } from 'node:fs'
import { basename } from 'node:path'

const LOOK_MS = 200

/** Ends this process in good order once the process that started it is gone, if that was npm or its shell. */
export function endWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  if (!mayBeNpm(parent)) end()
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    end()
  }, LOOK_MS)
  timer.unref()
}

function end() {
  process.kill(process.pid, 'SIGTERM')
}

/** False where npm was gone before this process could look, and another one became the parent. Only Linux can tell. */
function mayBeNpm(parent) {
  try {
    const command = readFileSync(`/proc/${parent}/cmdline`, 'utf8')
    // Its shell has our command on its line.
    return /npm|yarn|bun/.test(command) || command.includes(basename(process.argv[1] ?? ''))
  } catch {
    return true
  }
}
