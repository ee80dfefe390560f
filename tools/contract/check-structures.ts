import type { Problem } from './problem.ts'
import type { Script } from './script.ts'

/** One part of a key means one thing in all operations of a structure. */
export function checkStructures(scripts: readonly Script[], problems: Problem[]): void {
  const seen = new Map<string, { readonly type: string; readonly file: string }>()
  for (const { structure, file, declarations } of scripts) {
    for (const { part, type, line } of declarations.keys) {
      const place = `${structure}:${part}`
      const first = seen.get(place) ?? { type, file }
      seen.set(place, first)
      if (first.type !== type) {
        problems.push({
          file,
          line,
          message: `the key ${part} has the kind ${type} here and ${first.type} in ${first.file}: write one kind in both`,
        })
      }
    }
  }
}
