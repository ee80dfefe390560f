import type { LineRun } from './contract.ts'

/** A line of a file. */
export interface Place {
  readonly file: string
  readonly line: number
}

/** The source file and line that a line of the built script comes from. */
export function locate(lines: readonly LineRun[], built: number): Place {
  const run = lines.findLast(([first]) => first <= built) ?? lines[0]
  if (!run) throw new RangeError('a line map has at least one run')
  return { file: run[1], line: run[2] + built - run[0] }
}
