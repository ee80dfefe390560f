import type { Refuse } from './head.ts'
import { locate } from './include.ts'
import { lineOf } from './scope.ts'
import type { Script } from './script.ts'

const ALLOWED = new Set(
  `redis string table math tonumber tostring type pairs ipairs next select unpack error pcall assert
   struct bit KEYS ARGV`.split(/\s+/),
)

/** A script reads what Redis offers and what stays harmless, and sets no global at all. */
export function checkGlobals({ names, file, built, declarations }: Script, refuse: Refuse): void {
  for (const name of names.globalReads) {
    if (!ALLOWED.has(name.name)) refuse(lineOf(name), `the global ${name.name} may not be used`)
    const declaring = lineOf(name) < declarations.after
    if (['KEYS', 'ARGV'].includes(name.name) && !declaring) {
      refuse(lineOf(name), `${name.name} may stand in the declarations only`)
    }
  }
  for (const name of names.globalWrites) refuse(lineOf(name), `the global ${name.name} may not be set`)
  for (const { name, line } of names.bindings) {
    if (ALLOWED.has(name)) refuse(line, `a local may not be called ${name}`)
  }
  checkFragments({ names, file, built }, refuse)
}

/** What a fragment takes from its script's locals would be missing in the next script. */
function checkFragments(
  { names, file, built }: Pick<Script, 'names' | 'file' | 'built'>,
  refuse: Refuse,
): void {
  const fileOf = (line: number) => locate(built.lines, line).file
  for (const binding of names.bindings.filter(({ line }) => fileOf(line) === file)) {
    for (const use of [...binding.reads, ...binding.writes]) {
      if (fileOf(lineOf(use)) !== file) {
        refuse(lineOf(use), `a fragment uses only its parameters, and ${binding.name} is a local of ${file}`)
      }
    }
  }
}
