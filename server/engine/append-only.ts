// Repairs the append-only file of a private server after a crash. A transaction or script that was cut off is skipped
// at the next start, but its beginning stays in the file, and the start after that one applies it
// (valkey-io/valkey#4342).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, createWriteStream, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'

/** So that a server does not start on such a file by itself. */
export const UNLESS_CUT: readonly string[] = ['--aof-load-truncated', 'no']

/** Whether the log of a server that ended reports a truncated file. */
export function saysCut(log: string): boolean {
  return log.includes('Unexpected end of file reading the append only file')
}

/**
 * Saves the part that `mendAppendOnly` removes to a file of its own: appended to the repaired file, it restores the
 * original. Resolves to false if the tool does not report where that part begins. Rejects, and leaves no file, if the
 * disk has no room.
 */
export async function keepWhatIsCut(data: string, command: string, kept: string): Promise<boolean> {
  const cut = await findCut(data, command)
  if (cut === null) return false
  try {
    await pipeline(createReadStream(cut.file, { start: cut.from }), createWriteStream(kept, { flush: true }))
    return true
  } catch (error) {
    rmSync(kept, { force: true })
    throw error
  }
}

/** Removes the truncated part with `redis-check-aof`. Resolves to false if that fails. */
export async function mendAppendOnly(data: string, command: string): Promise<boolean> {
  const file = fileToCheck(data)
  if (file === undefined) return true
  const mending = spawn(command, ['--fix', file], { stdio: ['pipe', 'ignore', 'ignore'] })
  mending.stdin.on('error', () => undefined) // it asks for no confirmation if nothing is truncated
  mending.stdin.end('y\n')
  const [code] = await once(mending, 'exit')
  return code === 0
}

/** The report of the tool on the file that it reads. Before Redis 7.0 it does not print the name. */
const ANALYZED = /AOF analyzed: (?:filename=.+?, )?size=\d+, ok_up_to=(\d+),/

/** Where the file becomes invalid. */
async function findCut(data: string, command: string): Promise<{ file: string; from: number } | null> {
  const checked = fileToCheck(data)
  if (checked === undefined) return null
  const checking = spawn(command, [checked], { stdio: ['ignore', 'pipe', 'ignore'] })
  const [report] = await Promise.all([text(checking.stdout), once(checking, 'exit')])
  const from = ANALYZED.exec(report)?.[1]
  return from === undefined ? null : { file: checked, from: Number(from) }
}

/**
 * The file that grows, which is the only one that a crash truncates. Not the manifest, which names it: for that the tool
 * of Valkey 9.0 to 9.1.2 reads the base file, too, and takes it for damaged (valkey-io/valkey#4739).
 */
function fileToCheck(data: string): string | undefined {
  const names = readdirSync(data, { recursive: true, encoding: 'utf8' })
  const manifest = names.find(isManifest)
  if (manifest === undefined) {
    const only = names.find((name) => name.endsWith('.aof'))
    return only && join(data, only)
  }
  const grows = lastFile(readFileSync(join(data, manifest), 'utf8'))
  return grows && join(data, dirname(manifest), grows)
}

/** Copies of the folder may lie beside it. */
function isManifest(name: string): boolean {
  return name.startsWith(`appendonlydir${sep}`) && name.endsWith('.manifest')
}

/** The newest increment; the base, if there is none, as after an upgrade from a server before 7.0. */
function lastFile(manifest: string): string | undefined {
  const files = [...manifest.matchAll(/^file (\S+) seq \d+ type ([bi])\b/gm)]
  return (files.findLast(([, , type]) => type === 'i') ?? files.at(-1))?.[1]
}
