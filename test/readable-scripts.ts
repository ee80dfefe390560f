// Scripts with the names and the blanks of their sources, for tests that change a script. The shipped scripts have
// short names.

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Script } from '../src/driver.ts'
import { onTestClock, TEST_CLOCK } from '../src/testing/test-clock.ts'
import { compileTree } from '../tools/contract/compile.ts'
import type { Contract, OperationContract } from '../tools/contract/contract.ts'

const LUA = join(rootAbove(import.meta.dirname), 'lua')
/** Each compiled alone when it is first asked for: all of a structure take seconds. */
const known = new Map<string, OperationContract>()

/** The contract of one structure. */
export function readableContract(structure: string): Contract {
  const only = (name: string): boolean => name.startsWith(`${structure}/`)
  return compileTree(LUA, undefined, undefined, { form: 'readable', only })
}

/** The same script in words, on the clock that it is on. Throws where the library has none of this name. */
export function readable(script: Script): Script {
  const { source, sha1 } = operationOf(script.name)
  const inWords = { ...script, source, sha1 }
  return script.source.includes(TEST_CLOCK) ? onTestClock(inWords, clock()) : inWords
}

function clock(): string {
  return compileTree(LUA, undefined, undefined, { form: 'readable', only: () => false }).clock ?? ''
}

/** A program of a test is bundled in a folder further down. */
function rootAbove(folder: string): string {
  return existsSync(join(folder, 'lua/contract.json')) ? folder : rootAbove(dirname(folder))
}

function operationOf(name: string): OperationContract {
  const operation = known.get(name) ?? compiled(name)
  known.set(name, operation)
  return operation
}

function compiled(wanted: string): OperationContract {
  const options = { form: 'readable', only: (name: string): boolean => name === wanted } as const
  const operation = compileTree(LUA, undefined, undefined, options).operations[wanted]
  if (operation === undefined) throw new Error(`there is no script ${wanted}`)
  return operation
}
