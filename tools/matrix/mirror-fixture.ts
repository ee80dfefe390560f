// A mirror of a suite with one server, whose loader is a script that prints how it was called.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { Archive } from './archive.ts'
import type { Pin, ServerPin } from './server.ts'

const LOADER = '#!/bin/sh\necho "v=9.9.9 $*"\n'

const PACKAGES: Readonly<Record<string, { depends: string; files: Readonly<Record<string, string>> }>> = {
  'valkey-server': {
    depends: 'valkey-tools, adduser',
    files: { 'usr/bin/valkey-server': '', 'usr/bin/valkey-check-aof': '' },
  },
  'valkey-tools': { depends: 'libc6', files: { 'usr/bin/valkey-cli': '' } },
  libc6: { depends: '', files: { 'usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2': LOADER } },
}

export interface Mirror {
  readonly pin: ServerPin
  /** What the archive says while it fetches. */
  readonly said: string[]
  readonly cache: string
  archive(keyring?: string): Archive
  /** Replaces a file of the mirror, or takes it away. */
  put(path: string, content: string | null): void
  close(): void
}

export async function setupMirror(): Promise<Mirror> {
  const folder = mkdtempSync(join(tmpdir(), 'perilune-mirror-'))
  const files = new Map<string, Buffer>()
  const pins = Object.keys(PACKAGES).map((name) => addPackage(name, folder, files))
  addIndex(pins, files)
  const server = createServer((request, response) => {
    const file = files.get((request.url ?? '').slice(1))
    response.writeHead(file === undefined ? 404 : 200).end(file)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    rmSync(folder, { recursive: true })
  })
  const { port } = server.address() as AddressInfo
  const said: string[] = []
  const packages = pins.filter(({ name }) => name !== 'libc6')
  return {
    pin: { name: 'valkey-9.9', suite: 'sid', libraries: 'sid', packages },
    said,
    cache: join(folder, 'cache'),
    archive: (keyring = join(folder, 'no-keyring')) =>
      new Archive(`http://127.0.0.1:${port}`, keyring, (line) => said.push(line)),
    put: (path, content) => (content === null ? files.delete(path) : files.set(path, Buffer.from(content))),
    close: () => server.close(),
  }
}

function addPackage(name: string, folder: string, files: Map<string, Buffer>): Pin {
  const { depends, files: own } = PACKAGES[name] ?? { depends: '', files: {} }
  const root = join(folder, name)
  const about = [`Package: ${name}`, 'Version: 9.9.9-1', 'Architecture: amd64', 'Maintainer: Perilune']
  const needs = depends === '' ? [] : [`Depends: ${depends}`]
  write(join(root, 'DEBIAN/control'), [...about, ...needs, 'Description: for a test', ''].join('\n'))
  for (const [path, content] of Object.entries(own)) write(join(root, path), content)
  execFileSync('dpkg-deb', ['--build', '--root-owner-group', root, `${root}.deb`], { stdio: 'ignore' })
  const deb = readFileSync(`${root}.deb`)
  files.set(`pool/${name}.deb`, deb)
  return { name, version: '9.9.9-1', file: `pool/${name}.deb`, sha256: hashOf(deb) }
}

function write(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content, { mode: 0o755 })
}

function addIndex(pins: readonly Pin[], files: Map<string, Buffer>): void {
  const stanzas = pins.map(({ name, version, file, sha256 }) => {
    const needs = `Depends: ${PACKAGES[name]?.depends ?? ''}`
    return `Package: ${name}\nVersion: ${version}\n${needs}\nFilename: ${file}\nSHA256: ${sha256}\n`
  })
  const packed = execFileSync('xz', ['-c'], { input: stanzas.join('\n') })
  const sha256 = hashOf(packed)
  const index = `${sha256} ${packed.length} main/binary-amd64/Packages.xz`
  files.set(`dists/sid/main/binary-amd64/by-hash/SHA256/${sha256}`, packed)
  files.set('dists/sid/InRelease', Buffer.from(`Suite: sid\nSHA256:\n ${index}\n`))
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
