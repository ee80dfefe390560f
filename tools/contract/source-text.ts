// Files of Lua as text. Text that would reach Redis in another form than in the file is refused, except for what only
// editors and checkouts put there: a byte order mark, line breaks of Windows.

import { readFileSync } from 'node:fs'
import type { Problem } from './problem.ts'

/** The text of a file, which is called `file` for people. */
export function readText(path: string, file: string, problems: Problem[]): string {
  const bytes = readFileSync(path)
  const odd = oddLine(bytes)
  if (odd !== null) problems.push({ file, ...odd })
  return new TextDecoder().decode(bytes)
}

// oxlint-disable-next-line no-control-regex
const CONTROL = /[\0-\x08\x0b-\x1f\x7f]/

function oddLine(bytes: Uint8Array): { line: number; message: string } | null {
  for (const [at, line] of linesOf(bytes).entries()) {
    const text = decoded(line)
    const control = CONTROL.exec(text?.replace(/\r$/, '') ?? '')?.[0]
    if (text === null) {
      const message = 'this line is not UTF-8: save the file as UTF-8, or write a byte as \\233'
      return { line: at + 1, message }
    }
    if (control !== undefined) {
      const message =
        control === '\r'
          ? 'this line has line breaks of old Macs: save the file with line breaks of Unix or Windows'
          : `this line has the control character \\${control.charCodeAt(0)}: write it so, in a text`
      return { line: at + 1, message }
    }
  }
  return null
}

function linesOf(bytes: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = []
  for (let from = 0, end = 0; end >= 0; from = end + 1) {
    end = bytes.indexOf(0x0a, from)
    lines.push(bytes.subarray(from, end < 0 ? bytes.length : end))
  }
  return lines
}

/** Null where it is not UTF-8. */
function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}
