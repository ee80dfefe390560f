// The programs of unpacked packages under the names by which the tests look for them. Each runs through the loader of
// its own C library, so that it needs nothing of this machine but the kernel.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The file of each program: a server is a Sentinel when it is called by that name. */
const PROGRAMS = { server: 'server', cli: 'cli', 'check-aof': 'check-aof', sentinel: 'server' } as const

const FOLDERS = ['lib/x86_64-linux-gnu', 'usr/lib/x86_64-linux-gnu']
const LOADER = 'ld-linux-x86-64.so.2'

/** `home`: where the packages will be when the programs are called; `root`: where they are now. */
export function writePrograms(engine: string, root: string, home: string): void {
  const folders = FOLDERS.filter((folder) => existsSync(join(root, folder)))
  const loader = folders.map((folder) => join(folder, LOADER)).find((file) => existsSync(join(root, file)))
  if (loader === undefined) throw new Error(`the packages have no ${LOADER}`)
  const libraries = folders.map((folder) => join(home, folder)).join(':')
  mkdirSync(join(root, 'bin'))
  for (const [name, file] of Object.entries(PROGRAMS)) {
    const program = join('usr/bin', `${engine}-${file}`)
    if (!existsSync(join(root, program))) throw new Error(`the packages have no ${program}`)
    const calledBy = join(home, 'usr/bin', `${engine}-${name}`)
    const words = [join(home, loader), '--library-path', libraries, '--argv0', calledBy]
    const command = [...words, join(home, program)].map(quoted).join(' ')
    writeFileSync(join(root, 'bin', `redis-${name}`), `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 })
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`
}
