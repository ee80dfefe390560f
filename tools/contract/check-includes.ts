import { locate } from './include.ts'
import type { Problem } from './problem.ts'
import { lineOf } from './scope.ts'
import type { Script } from './script.ts'

/** Every fragment that a script includes is of use to it, or to another fragment in it. */
export function checkIncludes({ built, names }: Script, problems: Problem[]): void {
  const fileOf = (line: number): string => locate(built.lines, line).file
  const used = new Set(
    names.bindings.flatMap(({ line, reads }) => {
      const file = fileOf(line)
      return reads.some((use) => fileOf(lineOf(use)) !== file) ? file : []
    }),
  )
  for (const { fragment, at } of built.includes) {
    if (!used.has(fragment)) problems.push({ ...at, message: `nothing of ${fragment} is used: leave it out` })
  }
}
