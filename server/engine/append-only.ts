// What a crash leaves of the append-only file of a server of ours. A transaction or script that was cut in its middle is left
// out at the next start, but its beginning stays in the file, and the start after that one applies it (valkey-io/valkey#4342).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, createWriteStream, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'

/** So that a server does not start on such a file by itself. */
export const UNLESS_CUT: readonly string[] = ['--aof-load-truncated', 'no']

/** Whether the log of a server that ended says that the file was cut. */
export function saysCut(log: string): boolean {
  return log.includes('Unexpected end of file reading the append only file')
}

/**
 * Writes what `mendAppendOnly` removes to a file of its own: behind the mended file it makes the one that was cut. Resolves to
 * false where the tool does not tell where that begins; rejects, and leaves no file, where there is no room for it.
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

/** Removes what was cut, with `redis-check-aof`. Resolves to false where that cannot. */
export async function mendAppendOnly(data: string, command: string): Promise<boolean> {
  const file = fileToCheck(data)
  if (file === undefined) return true
  const mending = spawn(command, ['--fix', file], { stdio: ['pipe', 'ignore', 'ignore'] })
  mending.stdin.on('error', () => undefined) // it asks nothing where nothing is cut
  mending.stdin.end('y\n')
  const [code] = await once(mending, 'exit')
  return code === 0
}

/** What the tool says of each file that it reads. Before Redis 7.0 there is one, whose name it does not say. */
const ANALYZED = /AOF analyzed: (?:filename=(.+?), )?size=\d+, ok_up_to=(\d+),/g

/** Where the last file that the tool reads is good no more. */
async function findCut(data: string, command: string): Promise<{ file: string; from: number } | null> {
  const checked = fileToCheck(data)
  if (checked === undefined) return null
  const checking = spawn(command, [checked], { stdio: ['ignore', 'pipe', 'ignore'] })
  const [told] = await Promise.all([text(checking.stdout), once(checking, 'exit')])
  const [, name, from] = [...told.matchAll(ANALYZED)].at(-1) ?? []
  if (from === undefined) return null
  return { file: name === undefined ? checked : join(dirname(checked), name), from: Number(from) }
}

/** The manifest names all others. */
function fileToCheck(data: string): string | undefined {
  const names = readdirSync(data, { recursive: true, encoding: 'utf8' })
  const file = names.find((name) => name.endsWith('.manifest')) ?? names.find((name) => name.endsWith('.aof'))
  return file && join(data, file)
}
