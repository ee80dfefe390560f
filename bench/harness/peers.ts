// The packages that benches compare with. They are no dependency of the library: bench/peers has a
// package.json of its own, installed the first time that a bench asks for one of them.

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const PEERS = new URL('../peers/', import.meta.url)

const load = createRequire(PEERS)

/**
 * A package of bench/peers. `Module` is what the bench uses of it, written down by the bench itself.
 * Throws when the package cannot be loaded here.
 */
export function loadPeer<Module>(name: string): Module {
  if (!existsSync(new URL('node_modules', PEERS))) install()
  const found: Module = load(name)
  return found
}

/** The version in its package.json. */
export function peerVersion(name: string): string {
  const { version }: { version: string } = load(
    fileURLToPath(new URL(`node_modules/${name}/package.json`, PEERS)),
  )
  return version.replace(/^v/, '')
}

function install(): void {
  // Some peers name versions of clients as theirs that are older than the one they run with here.
  const args = ['install', '--prefix', fileURLToPath(PEERS), '--legacy-peer-deps', '--no-audit', '--no-fund']
  const { status } = spawnSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error(`npm ${args.join(' ')} ended with code ${String(status)}`)
}
