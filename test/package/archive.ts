// The archive that users install.

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }

const ROOT = join(import.meta.dirname, '../..')

/** `perilune`, `perilune/lock` …: the imports of programs. */
export const PUBLIC_NAMES: readonly string[] = Object.keys(manifest.exports)
  .filter((path) => !path.endsWith('.json'))
  .map((path) => path.replace('.', 'perilune'))

export interface Ended {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * A new folder in which the archive is installed: unpacked as npm unpacks it, with what it depends on, and with
 * `packages` that a user installs next to it. The caller removes the folder.
 */
export function installArchive(packages: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'perilune-package-'))
  const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder]
  const archive = execFileSync('npm', pack, { cwd: ROOT, encoding: 'utf8' }).trim()
  const modules = join(folder, 'node_modules')
  const own = join(modules, 'perilune')
  mkdirSync(own, { recursive: true })
  execFileSync('tar', ['-xzf', join(folder, archive), '--strip-components=1', '-C', own])
  for (const name of [...Object.keys(manifest.dependencies), ...packages]) {
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
  }
  return folder
}

/** Writes the files of a program below `folder`: texts by their paths. */
export function writeProgram(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

/** Runs a program in `folder`, with no settings of Node from outside. */
export function runProgram(folder: string, ...args: readonly string[]): Ended {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: folder,
    env: { PATH: process.env['PATH'] },
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}
