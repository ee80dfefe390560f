// The hosts file of the system, which takes precedence over name servers.

import type { LookupAddress } from 'node:dns'
import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'

const FILE =
  process.platform === 'win32'
    ? join(process.env['SystemRoot'] ?? String.raw`C:\Windows`, 'System32', 'drivers', 'etc', 'hosts')
    : '/etc/hosts'

type Addresses = ReadonlyMap<string, readonly LookupAddress[]>

let read: { readonly state: string; readonly addresses: Addresses } = { state: '', addresses: new Map() }

/** The addresses of a host in the file; empty if the host is not in it. The file is read again when it has changed. */
export function inHostsFile(host: string, file: string = FILE): LookupAddress[] {
  const state = `${file} ${stateOf(file)}`
  if (read.state !== state) read = { state, addresses: addressesIn(file) }
  return [...(read.addresses.get(nameOf(host)) ?? [])]
}

function stateOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false })
  return found === undefined ? '' : `${found.mtimeMs} ${found.size} ${found.ino}`
}

function addressesIn(file: string): Addresses {
  const addresses = new Map<string, LookupAddress[]>()
  for (const line of textOf(file).split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    const family = isIP(address)
    // An address with a zone belongs to a local network of this machine.
    if (family === 0 || address.includes('%')) continue
    for (const name of names) {
      const known = addresses.get(nameOf(name)) ?? []
      addresses.set(nameOf(name), [...known, { address, family }])
    }
  }
  return addresses
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function nameOf(host: string): string {
  return host.toLowerCase().replace(/\.$/, '')
}
