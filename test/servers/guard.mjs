// Outlives the process that starts servers, if only for a moment: when its standard input ends, for
// whatever reason, it kills the servers that are still listed and removes their directories.
import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'

const directories = new Set()
const servers = new Set()
const lists = { directory: directories, server: servers }

function killServer(pid) {
  try {
    process.kill(Number(pid), 'SIGKILL')
  } catch {
    // It has already gone.
  }
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const [verb, list, value] = JSON.parse(line)
    lists[list][verb](value)
  })
  .on('close', () => {
    for (const pid of servers) killServer(pid)
    for (const directory of directories) rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
  })
