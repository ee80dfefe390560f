// Remembers, by the content of files, what has been done already.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './node-version.mjs'

/** Changes with any of these files, or of the files in these folders; paths are relative to the root. */
export function fingerprint(paths) {
  const hash = createHash('sha256').update(process.versions.node)
  for (const file of paths.flatMap(filesOf))
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(root, file)))
  return hash.digest('hex')
}

export function isStamped(name, value) {
  const file = stampFile(name)
  return existsSync(file) && readFileSync(file, 'utf8') === value
}

export function stamp(name, value) {
  const file = stampFile(name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, value)
}

function filesOf(path) {
  const full = join(root, path)
  if (!existsSync(full)) return []
  if (!statSync(full).isDirectory()) return [path]
  const names = readdirSync(full).filter((name) => name !== 'node_modules' && name !== 'dist')
  return names.toSorted().flatMap((name) => filesOf(join(path, name)))
}

/** Inside node_modules, so that removing that folder also forgets. */
function stampFile(name) {
  return join(root, 'node_modules', '.perilune', name)
}
