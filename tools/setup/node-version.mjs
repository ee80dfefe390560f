import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))

/** Ends the process with one line when this Node.js is none that package.json asks for. */
export function requireNode() {
  const { engines } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
  if (allows(engines.node, process.versions.node)) return
  console.error(
    `perilune needs Node.js ${engines.node}, this is ${process.versions.node} (https://nodejs.org)`,
  )
  process.exit(1)
}

/** Whether a version is in a range of the form `^20.19 || >=22.12`. */
function allows(range, version) {
  const [major, minor] = numbersOf(version)
  return range.split('||').some((part) => {
    const [lowest, least = 0] = numbersOf(part)
    if (major === lowest) return minor >= least
    return major > lowest && part.includes('>=')
  })
}

function numbersOf(text) {
  return text.match(/\d+/g).map(Number)
}
