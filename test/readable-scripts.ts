// Scripts with the names and the blanks of their sources, for tests that change what a script says. What is shipped has short names.

import { join } from 'node:path'
import { onTestClock, TEST_CLOCK } from '../src/testing/test-clock.ts'
import type { Script } from '../src/driver.ts'
import { compileTree } from '../tools/contract/compile.ts'
import type { Contract } from '../tools/contract/contract.ts'

const LUA = join(import.meta.dirname, '../lua')
const known = new Map<string, Contract>()

/** The contract of one structure, compiled when it is first asked for. */
export function readableContract(structure: string): Contract {
  const contract =
    known.get(structure) ?? compileTree(LUA, undefined, undefined, { form: 'readable', structure })
  known.set(structure, contract)
  return contract
}

/** The same script in words, on the clock that it is on. Throws where the library has none of this name. */
export function readable(script: Script): Script {
  const { operations, clock } = readableContract(script.name.split('/')[0] ?? '')
  const operation = operations[script.name]
  if (operation === undefined) throw new Error(`there is no script ${script.name}`)
  const { source, sha1 } = operation
  const inWords = { ...script, source, sha1 }
  return script.source.includes(TEST_CLOCK) ? onTestClock(inWords, clock ?? '') : inWords
}
