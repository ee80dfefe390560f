// What a crash leaves of the append-only file of a server of ours. A transaction or script that was cut in its middle is left
// out at the next start, but its beginning stays in the file, and the start after that one applies it (valkey-io/valkey#4342).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** So that a server does not start on such a file by itself. */
export const UNLESS_CUT: readonly string[] = ['--aof-load-truncated', 'no']

/** Whether the log of a server that ended says that the file was cut. */
export function saysCut(log: string): boolean {
  return log.includes('Unexpected end of file reading the append only file')
}

/** Removes what was cut, with `redis-check-aof`. Resolves to false where that cannot. */
export async function mendAppendOnly(data: string, command: string): Promise<boolean> {
  const names = readdirSync(data, { recursive: true, encoding: 'utf8' })
  const file = names.find((name) => name.endsWith('.manifest')) ?? names.find((name) => name.endsWith('.aof'))
  if (file === undefined) return true
  const mending = spawn(command, ['--fix', join(data, file)], { stdio: ['pipe', 'ignore', 'ignore'] })
  mending.stdin.on('error', () => undefined) // it asks nothing where nothing is cut
  mending.stdin.end('y\n')
  const [code] = await once(mending, 'exit')
  return code === 0
}
