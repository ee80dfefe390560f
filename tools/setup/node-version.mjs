import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))

/** Ends the process with one line when this Node.js is older than package.json asks for. */
export function requireNode() {
  const { engines } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
  const [wanted, present] = [engines.node, process.versions.node].map((version) =>
    version.match(/\d+/g).map(Number),
  )
  if (isAtLeast(present, wanted)) return
  console.error(
    `perilune needs Node.js ${engines.node}, this is ${process.versions.node} (https://nodejs.org)`,
  )
  process.exit(1)
}

function isAtLeast(present, [major, minor = 0]) {
  return present[0] > major || (present[0] === major && present[1] >= minor)
}
