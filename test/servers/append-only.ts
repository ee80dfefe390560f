import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** The append-only file of a server, the one that grows. */
export function appendOnlyFile(dir: string): string {
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8' })
  const file = names.find((name) => name.endsWith('.incr.aof')) ?? names.find((name) => name.endsWith('.aof'))
  if (file === undefined) throw new Error('the server keeps no file')
  return join(dir, file)
}

/** The beginning of a transaction that a crash has cut: it takes the first entry of `list`. */
export const CUT_TRANSACTION: string =
  '*1\r\n$5\r\nMULTI\r\n*2\r\n$4\r\nLPOP\r\n$4\r\nlist\r\n*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$9\r\ncut'
