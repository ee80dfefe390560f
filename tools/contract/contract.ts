// What the compiler knows of scripts, and the shape of lua/contract.json: all that a binding in any language needs to
// know.

/** Where a run of built lines comes from: its first built line, the source file, the first line there. */
export type LineRun = readonly [built: number, file: string, line: number]

/** The text of a script, and where its lines come from. */
export interface SentText {
  readonly source: string
  readonly lines: readonly LineRun[]
}

export type ScalarType = 'integer' | 'number' | 'big' | 'text' | 'bytes' | 'flag'

export interface ScalarField {
  readonly name: string
  readonly type: ScalarType
  readonly optional?: true
}

/** One flat Lua array of records; its length is a multiple of the number of fields. */
export interface ListField {
  readonly name: string
  readonly type: 'list'
  readonly optional?: true
  readonly fields: readonly ScalarField[]
}

export type AnswerField = ScalarField | ListField

export interface KeyDeclaration {
  /** The Lua local. */
  readonly name: string
  /** The last part of the key in Redis. */
  readonly part: string
  readonly type: string
  readonly about: string
  /** The last key of a script may stand for any number of keys. */
  readonly repeated?: true
}

export interface ArgumentDeclaration {
  readonly name: string
  readonly type: ScalarType | 'repeated'
  readonly about: string
  /** What the script takes it for when it is left out; only the last arguments of a call may be. */
  readonly default?: number | boolean
  /** What one group of a repeated argument holds. */
  readonly fields?: readonly ScalarField[]
}

export interface OptionalCommand {
  readonly command: string
  readonly reason: string
}

export interface OperationContract {
  readonly structure: string
  readonly sha1: string
  /** The oldest server that knows every command which is not optional. */
  readonly since: string
  readonly reads: boolean
  readonly about: string
  readonly cost: string
  /** Why it may run twice, where its head says so. */
  readonly repeats?: string
  readonly keys: readonly KeyDeclaration[]
  readonly arguments: readonly ArgumentDeclaration[]
  readonly answers: Readonly<Record<string, readonly AnswerField[]>>
  readonly optional: readonly OptionalCommand[]
  readonly lines: readonly LineRun[]
  readonly source: string
}

export interface StructureContract {
  readonly since: string
  /** In lower case, sorted. */
  readonly commands: readonly string[]
  /** Least privilege for a user that only uses this structure under `<namespace>`. */
  readonly acl: string
}

export interface Contract {
  readonly version: string
  /** The text of shared/clock in every script that reads the time; null without one. */
  readonly clock: string | null
  readonly structures: Readonly<Record<string, StructureContract>>
  readonly operations: Readonly<Record<string, OperationContract>>
}

/** What is sent of one file, in the order in which scripts have it. */
export interface ShippedText {
  readonly file: string
  /** Which line of the file each of its lines is. */
  readonly numbers: readonly number[]
  readonly lines: readonly string[]
}

/** Lines as they are, or lines of a text: which text, the first line of it, how many; all from 0. */
export type ShippedPiece = string | readonly [text: number, from: number, count: number]

export interface ShippedOperation extends Omit<OperationContract, 'source' | 'lines'> {
  /** What is joined with line breaks to be the script; `sha1` is that of the whole. */
  readonly pieces: readonly ShippedPiece[]
}

/** lua/contract.json contains each line of Lua once. */
export interface ShippedContract extends Omit<Contract, 'operations'> {
  readonly format: 2
  readonly texts: readonly ShippedText[]
  readonly operations: Readonly<Record<string, ShippedOperation>>
}
