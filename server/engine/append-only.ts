// Repairs the append-only file of a private server after a crash. A transaction or script that was cut off is skipped
// at the next start, but its beginning stays in the file, and the start after that one applies it
// (valkey-io/valkey#4342).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, createWriteStream, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
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

/**
 * The report of the tool on each file that it reads. Before Redis 7.0 there is one file, whose name it does not print.
 */
const ANALYZED = /AOF analyzed: (?:filename=(.+?), )?size=\d+, ok_up_to=(\d+),/g

/** Where the last file that the tool reads becomes invalid. */
async function findCut(data: string, command: string): Promise<{ file: string; from: number } | null> {
  const checked = fileToCheck(data)
  if (checked === undefined) return null
  const checking = spawn(command, [checked], { stdio: ['ignore', 'pipe', 'ignore'] })
  const [report] = await Promise.all([text(checking.stdout), once(checking, 'exit')])
  const [, name, from] = [...report.matchAll(ANALYZED)].at(-1) ?? []
  if (from === undefined) return null
  return { file: name === undefined ? checked : join(dirname(checked), name), from: Number(from) }
}

/** The manifest names all others. */
function fileToCheck(data: string): string | undefined {
  const names = readdirSync(data, { recursive: true, encoding: 'utf8' })
  const file = names.find((name) => name.endsWith('.manifest')) ?? names.find((name) => name.endsWith('.aof'))
  return file && join(data, file)
}
