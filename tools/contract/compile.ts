// Compiles a tree of Lua operations into the contract. Nothing is written here.

import { createHash } from 'node:crypto'
import { aclRule, commandNames } from './acl.ts'
import { checkAnswers } from './check-answers.ts'
import { checkArity } from './check-arity.ts'
import { checkCalls } from './check-calls.ts'
import { checkCounts } from './check-counts.ts'
import { checkDeclarations } from './check-declarations.ts'
import { checkGlobals } from './check-globals.ts'
import { checkKeys } from './check-keys.ts'
import { checkKinds } from './check-kinds.ts'
import { checkLoops } from './check-loops.ts'
import { checkMembers } from './check-members.ts'
import { checkNumbers } from './check-numbers.ts'
import { checkRefusals } from './check-refusals.ts'
import { checkRepeats } from './check-repeats.ts'
import { checkRoom } from './check-room.ts'
import { checkSpelling } from './check-spelling.ts'
import { checkStructures } from './check-structures.ts'
import { checkValues } from './check-values.ts'
import { checkWholes } from './check-wholes.ts'
import { later, OLDEST_SERVER } from './commands.ts'
import type {
  ArgumentDeclaration,
  Contract,
  KeyDeclaration,
  OperationContract,
  SentText,
  StructureContract,
} from './contract.ts'
import { type KeyList, missingKeys } from './key-list.ts'
import { link } from './link.ts'
import type { Modules } from './modules.ts'
import { numberedKeys } from './old-grammar.ts'
import { ContractError, inOrder, type Problem } from './problem.ts'
import { type RedisCall, redisCalls } from './redis-calls.ts'
import { literal } from './scope.ts'
import { readScript, refuseInto, type Script } from './script.ts'
import { moduleText, sentText, type TextForm } from './sent-text.ts'
import { readTree, type Tree } from './tree.ts'

const CHECKS = [
  checkGlobals,
  checkArity,
  checkCalls,
  checkKeys,
  checkKinds,
  checkAnswers,
  checkRefusals,
  checkDeclarations,
  checkSpelling,
  checkMembers,
  checkValues,
  checkLoops,
  checkCounts,
  checkNumbers,
]
/** For folders that are not ours: those that use modules of a library. */
const CHECKS_OF_USERS = [...CHECKS, checkRepeats, checkWholes]

export interface CompileOptions {
  /** Of the texts of scripts; default: `short`, which is what is shipped. */
  readonly form?: TextForm
  /** Of which operations, by their names; default: all. */
  readonly only?: (name: string) => boolean
}

/**
 * The contract of the Lua files below `root`, which may use modules of `library`. Throws a ContractError with every problem
 * found.
 */
export function compileTree(
  root: string,
  version = '0.0.0',
  library?: string,
  { form = 'short', only = () => true }: CompileOptions = {},
): Contract {
  const tree = readTree(root, library)
  const problems: Problem[] = []
  const sources = tree.operations.filter(({ name }) => only(name))
  const scripts = readScripts(tree, sources, library === undefined ? CHECKS : CHECKS_OF_USERS, problems)
  checkStructures(scripts, problems)
  problems.push(...tree.problems)
  const sent = new Map(scripts.map((script) => [script, sentText(script, form)]))
  for (const [{ file }, text] of problems.length === 0 ? sent : []) checkRoom(text, file, problems)
  if (problems.length > 0) throw new ContractError(inOrder(problems))
  return {
    version,
    clock: clockOf(tree, form),
    structures: structuresOf(scripts),
    operations: Object.fromEntries(
      [...sent].map(([script, text]) => [script.name, operationOf(script, text)]),
    ),
  }
}

function readScripts(
  tree: Tree,
  sources: Tree['operations'],
  checks: typeof CHECKS,
  problems: Problem[],
): Script[] {
  const structures = new Map<string, { readonly modules: Modules; readonly keys: KeyList | null }>()
  return sources.flatMap(({ text, ...source }) => {
    const { structure } = source
    const known = structures.get(structure) ?? {
      modules: tree.modulesFor(structure),
      keys: tree.keysOf(structure),
    }
    structures.set(structure, known)
    if (known.keys?.sound === false) return [] // what is wrong there comes first
    const unlisted = [
      ...numberedKeys(source.file, text, known.keys),
      ...(known.keys === null ? missingKeys(source.file, text) : []),
    ]
    problems.push(...unlisted)
    if (unlisted.length > 0) return []
    const built = link(source.file, text, known.modules, known.keys)
    const script = readScript(source, built, problems)
    if (!script) return []
    for (const check of checks) check(script, refuseInto(problems, built))
    return [script]
  })
}

function clockOf(tree: Tree, form: TextForm): string | null {
  const clock = tree.modules.find(({ file }) => file.endsWith('/shared/clock.lua'))
  return clock === undefined ? null : moduleText(clock.text, form)
}

function structuresOf(scripts: readonly Script[]): Record<string, StructureContract> {
  const names = [...new Set(scripts.map(({ structure }) => structure))]
  return Object.fromEntries(names.map((name) => [name, structureOf(name, scripts)]))
}

function structureOf(name: string, scripts: readonly Script[]): StructureContract {
  const own = scripts.filter(({ structure }) => structure === name)
  const commands = commandNames(own.flatMap(({ names }) => redisCalls(names)))
  return { since: own.map(sinceOf).reduce(later), commands, acl: aclRule(name, commands) }
}

function operationOf(script: Script, { source, lines }: SentText): OperationContract {
  const { structure, head, declarations } = script
  return {
    structure,
    sha1: createHash('sha1').update(source).digest('hex'),
    since: sinceOf(script),
    reads: head.reads,
    about: head.about,
    cost: head.cost,
    ...(head.repeats === null ? {} : { repeats: head.repeats }),
    keys: declarations.keys.map(keyOf),
    arguments: declarations.arguments.map(argumentOf),
    answers: Object.fromEntries([...head.answers].map(([word, { fields }]) => [word, fields ?? []])),
    optional: script.optional,
    lines,
    source,
  }
}

/** A default means something when every argument behind it has one too. */
function argumentOf(
  { name, type, about, fields, default: standIn }: ArgumentDeclaration,
  at: number,
  all: readonly ArgumentDeclaration[],
): ArgumentDeclaration {
  const mayBeLeftOut = all.slice(at).every((one) => one.default !== undefined)
  return {
    name,
    type,
    about,
    ...(mayBeLeftOut && standIn !== undefined ? { default: standIn } : {}),
    ...(fields ? { fields } : {}),
  }
}

function keyOf({ part, type, about, repeated }: KeyDeclaration): KeyDeclaration {
  return { name: part.replaceAll('-', '_'), part, type, about, ...(repeated ? { repeated } : {}) }
}

function sinceOf({ names, optional }: Script): string {
  const needed = redisCalls(names).filter(({ name }) => !optional.some(({ command }) => command === name))
  return needed.map(sinceOfCall).reduce(later, OLDEST_SERVER)
}

function sinceOfCall({ command, args }: RedisCall): string {
  const options = args
    .map((argument) => command.options.get(literal(argument) ?? ''))
    .filter((since) => since !== undefined)
  return options.reduce(later, command.since)
}
