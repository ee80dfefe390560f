// What the grammar allows and the module of a folder that is not ours cannot offer.

import { CALL_ID } from './check-repeats.ts'
import { OF_EVERY_OBJECT } from './check-spelling.ts'
import type { Contract, OperationContract } from './contract.ts'
import { namesOf } from './emit-handles.ts'
import { READERS, readerAlias } from './emit-operation.ts'
import type { Place } from './locate.ts'
import { ContractError, inOrder, type Problem } from './problem.ts'
import { camel } from './spelling.ts'
import { RESERVED } from './tree.ts'

/** What the module imports, declares or uses of the language, or what compilers add to it. */
const TAKEN: ReadonlySet<string> = new Set([
  ...READERS.map(readerAlias),
  ...`Argument Array Buffer CallId HasRuntime Math Object Promise Readonly Record Reflect Reply ScriptOperation ScriptUnit
   Uint8Array WeakMap WeakSet arguments eval exports globalThis module openUnit preload preloadScripts require undefined
   withoutDefaults`.split(/\s+/),
])

/** Refuses what would not compile, or would share keys with structures of ours. Throws a ContractError. */
export function checkHandles(contract: Contract, ours: readonly string[]): void {
  const problems = [
    ...checkNames(contract, ours),
    ...Object.entries(contract.operations).flatMap(([path, operation]) => checkOperation(path, operation)),
  ]
  if (problems.length > 0) throw new ContractError(inOrder(problems))
}

function checkNames(contract: Contract, ours: readonly string[]): Problem[] {
  const structures = Object.keys(contract.structures)
  const names = namesOf(contract)
  const own = structures
    .filter((structure) => ours.includes(structure))
    .map((structure) => ({
      ...placeOf(contract, structure),
      message: `${structure} is a structure of Perilune: rename the folder`,
    }))
  const taken = names
    .filter(
      ([name], at) =>
        TAKEN.has(name) || RESERVED.has(name) || names.findIndex(([other]) => other === name) !== at,
    )
    .map(([name, of]) => ({
      ...placeOf(contract, of),
      message: `the module has another ${name}: rename the folder or the file`,
    }))
  return [...own, ...taken]
}

function checkOperation(path: string, operation: OperationContract): Problem[] {
  const { keys, arguments: args, answers } = operation
  const ids = args.filter(({ name }) => CALL_ID.includes(name))
  const isCallId = ids.length === 2 && ids.every(({ type }) => type === 'text')
  const problems: Problem[] = []
  const refuse = (message: string): void => void problems.push({ file: fileOf(operation), line: 1, message })
  if (isMeant(camel(path.split('/')[1] ?? '')))
    refuse('every object of JavaScript has a method of this name: rename the file')
  if (keys.some(({ repeated }) => repeated))
    refuse('a handle has the keys of one unit: list each key in keys.lua instead of repeated keys')
  if (ids.length > 0 && !isCallId)
    refuse('caller and call are the id of a call: declare both as text, or rename the one')
  for (const [word, fields] of Object.entries(answers)) {
    if (fields.some(({ name }) => name === 'status'))
      refuse(`@returns ${word} has a field called status, which is the word itself: rename the field`)
  }
  return problems
}

/** Who awaits a handle would call its `then`. */
function isMeant(method: string): boolean {
  return method === 'then' || OF_EVERY_OBJECT.has(method)
}

/** At the operation, or at the first one of the structure. */
function placeOf({ operations }: Contract, of: string): Place {
  const path = Object.keys(operations).find((name) => name === of || name.startsWith(`${of}/`))
  const operation = operations[path ?? '']
  return { file: operation ? fileOf(operation) : of, line: 1 }
}

function fileOf({ lines }: OperationContract): string {
  const own = lines.find(([, file]) => !file.endsWith('/keys.lua'))
  return own?.[1] ?? ''
}
