// The part of lua/contract.json that a vector player reads, and how it encodes arguments and decodes answers with it.
// This code knows no structure: the contract is sufficient.

import { createHash } from 'node:crypto'
import { type Argument, type Reply, type Script } from '../driver.ts'
import { toBytes, toValue, type Value } from './vector-value.ts'

type ScalarType = 'integer' | 'number' | 'big' | 'text' | 'bytes' | 'flag'

interface Field {
  readonly name: string
  readonly type: ScalarType | 'list' | 'repeated'
  readonly optional?: boolean
  readonly fields?: readonly Field[]
}

export interface ContractOperation {
  readonly structure: string
  readonly sha1: string
  readonly reads: boolean
  readonly keys: readonly { readonly part: string }[]
  readonly arguments: readonly Field[]
  readonly answers: Readonly<Record<string, readonly Field[]>>
  /**
   * The pieces that are joined with line breaks to form the script: literal lines, or an index of `texts`, its first
   * line, and the number of lines.
   */
  readonly pieces?: readonly (string | readonly number[])[]
  /** The whole script, for contracts that contain it, such as those of format 1. */
  readonly source?: string
}

/** An operation with the text of its script. */
export interface RunnableOperation extends ContractOperation {
  readonly source: string
}

/** The part of `lua/contract.json` that is needed to run its scripts. */
export interface Contract {
  /** The fragment that reads the server's time, as it appears in every script. */
  readonly clock: string | null
  readonly texts?: readonly { readonly lines: readonly string[] }[]
  readonly operations: Readonly<Record<string, ContractOperation>>
}

export type Arguments = Readonly<Record<string, unknown>>

const joined = new WeakMap<ContractOperation, string>()

/** Throws when the contract has no such operation, or when its script does not match its `sha1`. */
export function operationOf(contract: Contract, name: string): RunnableOperation {
  const operation = contract.operations[name]
  if (operation === undefined) throw new Error(`the contract has no ${name}`)
  const source = operation.source ?? joined.get(operation) ?? joinedSource(contract, name, operation)
  joined.set(operation, source)
  return { ...operation, source }
}

function joinedSource(
  { texts = [] }: Contract,
  name: string,
  { pieces = [], sha1 }: ContractOperation,
): string {
  const lines = pieces.flatMap((piece) => {
    if (typeof piece === 'string') return piece
    const [text = 0, from = 0, count = 0] = piece
    return texts[text]?.lines.slice(from, from + count) ?? []
  })
  const source = lines.join('\n')
  if (createHash('sha1').update(source).digest('hex') !== sha1)
    throw new Error(`the pieces of ${name} do not match its sha1`)
  return source
}

/**
 * Whether a contract, possibly of an older release, has the call of a step with these arguments (`given`) and this
 * answer.
 */
export function knowsCall(contract: Contract, name: string, given: Arguments, answer: unknown): boolean {
  const operation = contract.operations[name]
  if (operation === undefined) return false
  if (Object.keys(argumentsFor(operation, given)).length < Object.keys(given).length) return false
  if (!Array.isArray(answer)) return true
  const [word, ...values] = answer
  return operation.answers[String(word)]?.length === values.length
}

/** The arguments without those that the operation of an older release does not take. */
export function argumentsFor({ arguments: fields }: ContractOperation, all: Arguments): Arguments {
  const known = new Set(fields.map(({ name }) => name))
  return Object.fromEntries(Object.entries(all).filter(([name]) => known.has(name)))
}

export function scriptOf(name: string, { sha1, source, reads, answers }: RunnableOperation): Script {
  return { name, sha1, source, reads, bytes: Object.values(answers).flat().some(holdsBytes) }
}

function holdsBytes({ type, fields = [] }: Field): boolean {
  return type === 'bytes' || fields.some(holdsBytes)
}

/** The last parts of all keys that operations of the structure use, sorted. */
export function partsOf(contract: Contract, structure: string): string[] {
  const own = Object.values(contract.operations).filter((operation) => operation.structure === structure)
  return [...new Set(own.flatMap(({ keys }) => keys.map(({ part }) => part)))].toSorted()
}

/** The arguments in the order of ARGV. Throws for an argument that is missing or not declared. */
export function encodeArguments(fields: readonly Field[], given: Arguments): Argument[] {
  const known = new Set(fields.map(({ name }) => name))
  const stray = Object.keys(given).find((name) => !known.has(name))
  if (stray !== undefined) throw new Error(`there is no argument ${stray}`)
  return fields.flatMap((field) =>
    field.type === 'repeated' ? encodeGroups(field, given[field.name]) : [encode(field, given[field.name])],
  )
}

function encodeGroups({ name, fields = [] }: Field, groups: unknown): Argument[] {
  if (!Array.isArray(groups)) throw new Error(`${name} must be a list`)
  const [only] = fields
  if (only !== undefined && fields.length === 1) return groups.map((value) => encode(only, value))
  return groups.flatMap((group) => encodeArguments(fields, group))
}

function encode({ name, type }: Field, value: unknown): Argument {
  if (value === undefined) throw new Error(`the argument ${name} is missing`)
  return type === 'flag' ? Number(value) : toBytes(value)
}

/** The status word, then the values in the order of the contract; a list of records is a list of lists. */
export function decodeAnswer({ answers }: ContractOperation, reply: Reply): Value[] {
  if (!Array.isArray(reply)) throw new Error('the script did not answer with a list')
  const [word, ...parts] = reply
  const status = String(word)
  const fields = answers[status]
  if (fields === undefined) throw new Error(`the contract has no answer ${status}`)
  if (fields.length !== parts.length) throw new Error(`${status} has ${parts.length} values`)
  return [status, ...fields.map((field, at) => decode(field, parts[at] ?? null))]
}

function decode({ type, optional, fields = [] }: Field, part: Reply): Value {
  if (part === null && optional === true) return null
  if (Array.isArray(part)) return decodeRecords(fields, part)
  if (type === 'flag') return part === 1
  if (type === 'integer' && typeof part !== 'number') throw new Error(`not an integer: ${String(part)}`)
  return toValue(part)
}

function decodeRecords(fields: readonly Field[], flat: readonly Reply[]): Value[] {
  if (fields.length === 1) return fields.flatMap((only) => flat.map((part) => decode(only, part)))
  const records: Value[] = []
  for (let start = 0; start < flat.length; start += fields.length) {
    records.push(fields.map((field, at) => decode(field, flat[start + at] ?? null)))
  }
  return records
}
