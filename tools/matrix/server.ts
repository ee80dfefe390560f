// A server from Debian's packages, unpacked into a folder of its own and not installed.

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import type { Archive } from './archive.ts'
import { type Index, librariesFor, type Package } from './index.ts'
import { writePrograms } from './program-folder.ts'

/** The file of a package that the committed table names. */
export type Pin = Omit<Package, 'needs'>

/** A row of servers.json. */
export interface ServerPin {
  readonly name: string
  /** Where its packages are, and where the libraries are that they need: not in the same for backports. */
  readonly suite: string
  readonly libraries: string
  readonly packages: readonly Pin[]
}

export interface Server {
  /** To be the first in PATH. */
  readonly bin: string
  /** What the program says of itself, such as `9.1.2`. */
  readonly version: string
  /** Packages that are not those of the table, a sentence each. */
  readonly moved: readonly string[]
}

/** What an unpacked folder says of itself. */
interface Stamp {
  readonly pinned: readonly Pin[]
  readonly moved: readonly string[]
}

const run = promisify(execFile)

export function cacheFolder(): string {
  return process.env['PERILUNE_CACHE'] ?? join(homedir(), '.cache/perilune')
}

/** Fetches and unpacks what is not yet there. Rejects with the reason for a server that cannot be had. */
export async function provide(pin: ServerPin, archive: Archive, cache: string): Promise<Server> {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error(`the packages are for Linux on amd64, not for ${process.platform} on ${process.arch}`)
  const home = join(cache, 'servers', pin.name)
  const { moved } = stampIn(home, pin) ?? (await unpack(pin, archive, home))
  const bin = join(home, 'bin')
  const { stdout } = await run(join(bin, 'redis-server'), ['--version'])
  const version = /v=(\S+)/.exec(stdout)?.[1]
  if (version === undefined) throw new Error(`the server said no version: ${stdout.trim()}`)
  return { bin, version, moved }
}

/** Null where nothing is unpacked, or what an earlier table named. */
function stampIn(home: string, { packages }: ServerPin): Stamp | null {
  const file = join(home, 'stamp.json')
  if (!existsSync(file)) return null
  const stamp: Stamp = JSON.parse(readFileSync(file, 'utf8'))
  return JSON.stringify(stamp.pinned) === JSON.stringify(packages) ? stamp : null
}

async function unpack(pin: ServerPin, archive: Archive, home: string): Promise<Stamp> {
  const [own, base] = await Promise.all([archive.indexOf(pin.suite), archive.indexOf(pin.libraries)])
  const found = pin.packages.map((each) => inSuite(each, own, pin.suite))
  const stamp: Stamp = {
    pinned: pin.packages,
    moved: pin.packages.flatMap((each, at) => moveOf(each, found[at])),
  }
  mkdirSync(join(home, '..'), { recursive: true })
  const root = mkdtempSync(`${home}-`)
  try {
    for (const each of [...found, ...librariesFor(found, base)]) await unpackOne(each, archive, root)
    writePrograms(/^[a-z]+/.exec(pin.packages[0]?.name ?? '')?.[0] ?? '', root, home)
    writeFileSync(join(root, 'stamp.json'), JSON.stringify(stamp, null, 2))
    rmSync(home, { recursive: true, force: true })
    renameSync(root, home)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
  return stamp
}

async function unpackOne(each: Package, archive: Archive, root: string): Promise<void> {
  const file = join(root, basename(each.file))
  writeFileSync(file, await archive.fetchPackage(each))
  await run('dpkg-deb', ['-x', file, root])
  rmSync(file)
}

/** What the suite has now: sid moves on, and the mirror soon forgets the file of the table. */
function inSuite({ name, version, sha256 }: Pin, index: Index, suite: string): Package {
  const found = index.get(name)
  if (found === undefined) throw new Error(`${suite} has no ${name}`)
  if (found.version === version && found.sha256 !== sha256)
    throw new Error(`${name} ${version} has the SHA-256 ${found.sha256} in ${suite}, not ${sha256}`)
  return found
}

function moveOf({ name, version }: Pin, found: Package | undefined): string[] {
  if (found === undefined || found.version === version) return []
  return [`${name} ${found.version} instead of ${version}, checked against the index of the suite only`]
}
