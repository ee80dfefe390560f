// A call whose answer was lost is sent again, so a script that would count, push or take a second time remembers its
// calls, or says why it may. Our own scripts say it in their prose.

import type { Refuse } from './head.ts'
import { locate } from './locate.ts'
import { redisCalls } from './redis-calls.ts'
import { differsTwice } from './repeats.ts'
import { isWithin, lineOf } from './scope.ts'
import type { Script } from './script.ts'
import { unusedFunctions } from './without-unused.ts'

/** The arguments that the library fills in: an operation that has both takes effect once. */
export const CALL_ID: readonly string[] = ['caller', 'call']

const MEMORY = 'perilune/lua/shared/calls.lua'

/** Reports each line that may run once only; a line of a module is reported once for each script. */
export function checkRepeats(script: Script, refuse: Refuse): void {
  if (script.head.repeats !== null || remembersCalls(script)) return
  const unused = unusedFunctions(script)
  for (const call of redisCalls(script.names)) {
    if (!differsTwice(call, script.names)) continue
    if (isWithin(call.node, unused)) continue
    refuse(lineOf(call.node), `${call.name} twice is not ${call.name} once, ${remedy(script)}`)
  }
}

function remedy({ name, declarations }: Script): string {
  const taken = CALL_ID.every((one) => declarations.arguments.some((argument) => argument.name === one))
  const memory = taken
    ? `and ${name} takes a call id that it does not remember: recall and remember_answer do`
    : `and a call whose answer was lost is sent again: let ${name} take a call id (local call_id = ARGV[1] -- CALL_ID: of this call, with recall and remember_answer)`
  return `${memory}; or say in its head what makes it safe: @repeats why`
}

/** It looks its call up, and writes it down, with the functions that are made for it. */
function remembersCalls(script: Script): boolean {
  return uses(script, 'recall') && (uses(script, 'remember_answer') || uses(script, 'call_record'))
}

function uses({ names, built }: Script, name: string): boolean {
  const fileOf = (line: number): string => locate(built.lines, line).file
  return names.bindings.some(
    (binding) =>
      binding.name === name &&
      fileOf(binding.line) === MEMORY &&
      binding.reads.some((use) => fileOf(lineOf(use)) !== MEMORY),
  )
}
