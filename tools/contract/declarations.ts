import type { ArgumentDeclaration, KeyDeclaration, ScalarField, ScalarType } from './contract.ts'
import { ELSEWHERE, scalarFields } from './fields.ts'
import type { Refuse } from './head.ts'
import { linesOf } from './lines.ts'
import { orNearest } from './nearest.ts'
import { notSnake } from './spelling.ts'
import { isOfArguments, type Known, writtenArguments, WRITTEN } from './tables.ts'

export interface DeclaredKey extends KeyDeclaration {
  readonly line: number
  /** The local that holds where the repeated keys begin. */
  readonly start?: string
}

export interface DeclaredArgument extends ArgumentDeclaration {
  readonly line: number
  readonly start?: string
  /** The local that holds it together with others. */
  readonly local?: string
}

/** The block of declarations below a head. */
export interface Declarations {
  readonly keys: readonly DeclaredKey[]
  readonly arguments: readonly DeclaredArgument[]
  /** False when a line could not be read: what is traced back to the declarations then misleads. */
  readonly sound: boolean
  /** The first line after the block. */
  readonly after: number
}

const LINE =
  /^local\s+(?<names>[\w, ]+?)\s*=\s*(?<value>.*?)\s*--\s*(?<kind>[^:(]+?(?:\s*\(.*\))?)\s*:\s*(?<about>.+)$/
export const KINDS: ReadonlyMap<string, string> = new Map([
  ['string', 'string'],
  ['hash', 'hash'],
  ['list', 'list'],
  ['set', 'set'],
  ['zset', 'zset'],
  ['sorted set', 'zset'],
  ['stream', 'stream'],
  ['list, set, hash or sorted set', 'any'],
])
interface Shape {
  readonly value: RegExp
  readonly types: readonly ScalarType[]
  /** What the script takes the argument for when it is left out. */
  standIn?(written: string): number | boolean
}

const SHAPES: readonly Shape[] = [
  { value: /^tonumber\(ARGV\[(\d+)\]\)$/, types: ['integer', 'number'] },
  { value: /^tonumber\(ARGV\[(\d+)\] or (\d+)\)$/, types: ['integer'], standIn: Number },
  { value: /^ARGV\[(\d+)\]$/, types: ['text', 'bytes'] },
  { value: /^ARGV\[(\d+)\] == '1'$/, types: ['flag'], standIn: () => false },
  { value: /^ARGV\[(\d+)\] ~= '0'$/, types: ['flag'], standIn: () => true },
]

/** Reads the declarations that begin at line `first`; what it cannot read is refused. */
export function readDeclarations(
  source: string,
  first: number,
  refuse: Refuse,
  known: Known = () => undefined,
): Declarations {
  const reader = new Reader(refuse, known)
  const lines = linesOf(source)
  let line = first
  for (; line <= lines.length; line++) {
    const text = lines[line - 1] ?? ''
    if (text.trim() !== '' && !/^local\b.*\b(KEYS|ARGV)\b/.test(text)) break
    if (text.trim() !== '') reader.read(text, line)
  }
  return { keys: reader.keys, arguments: reader.arguments, sound: reader.sound, after: line }
}

interface Parts {
  readonly name: string
  readonly start?: string
  readonly value: string
  readonly kind: string
  readonly about: string
  readonly line: number
}

class Reader {
  readonly keys: DeclaredKey[] = []
  readonly arguments: DeclaredArgument[] = []
  sound = true
  readonly #refuse: Refuse
  readonly #known: Known
  /** Whether it is known how many arguments there are so far. */
  #isCounted = true

  constructor(refuse: Refuse, known: Known) {
    this.#refuse = refuse
    this.#known = known
  }

  read(text: string, line: number): void {
    try {
      const parts = takeApart(text, line)
      if (/\bKEYS\b/.test(parts.value)) this.#key(parts)
      else if (TABLE.test(parts.kind)) this.arguments.push(...this.#several(parts))
      else this.arguments.push(this.#argument(parts))
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      this.sound = false
      this.#refuse(line, error.message)
    }
  }

  #key(parts: Parts): void {
    if (this.arguments.length > 0)
      throw new SyntaxError('keys are declared before the first argument: move this line up')
    this.#notAfterRepeated(this.keys.at(-1), 'key')
    const kind = parts.kind.replace(/^repeated\s+/, '')
    const repeated = kind !== parts.kind
    const type = KINDS.get(kind)
    if (type === undefined) throw new SyntaxError(noKind(kind))
    this.#numbered(parts, 'KEYS', repeated ? /^KEYS, (\d+)$/ : /^KEYS\[(\d+)\]$/, this.keys.length + 1)
    const { name, start, about, line } = parts
    const part = name.replaceAll('_', '-')
    this.keys.push({
      name,
      part,
      type,
      about,
      line,
      ...(repeated ? { repeated } : {}),
      ...(start ? { start } : {}),
    })
  }

  #argument(parts: Parts): DeclaredArgument {
    this.#notAfterRepeated(this.arguments.at(-1), 'argument')
    const { name, start, about, line } = parts
    const next = this.arguments.length + 1
    const fields = repeatedFields(parts.kind)
    if (fields) {
      this.#numbered(parts, 'ARGV', /^ARGV, (\d+)$/, next)
      return { name, type: 'repeated', about, fields, line, ...(start ? { start } : {}) }
    }
    return { name, ...this.#scalar(parts, next), about, line }
  }

  /** Those that a table names, in one local. */
  #several({ name, value, kind, line }: Parts): DeclaredArgument[] {
    this.#notAfterRepeated(this.arguments.at(-1), 'argument')
    const [next, table] = [this.arguments.length + 1, this.#known(kind)]
    const found = Number(/ARGV\[(\d+)\]/.exec(value)?.[1])
    if (!isOfArguments(table)) {
      this.sound = false
      this.#isCounted = false
      return []
    }
    const isCounted = this.#isCounted
    this.#isCounted = false
    if (value !== writtenArguments(table, found))
      throw new SyntaxError(
        `the declaration cannot be read from "${value}": write local name = ARGV[${next}] -- ${kind}: meaning`,
      )
    if (isCounted) checkNumber(`ARGV[${next}]`, found, next)
    this.#isCounted = isCounted
    return table.fields.map((field, at) => {
      const { name: argument, type } = scalarFields(field)[0] as ScalarField
      return { name: argument, type, about: table.abouts?.[at] ?? '', line, local: name }
    })
  }

  #scalar(parts: Parts, next: number): Pick<DeclaredArgument, 'type' | 'default'> {
    const shape = SHAPES.find(({ value }) => value.test(parts.value))
    if (!shape) throw new SyntaxError(unreadable(parts.value))
    this.#numbered(parts, 'ARGV', shape.value, next)
    const type = shape.types.find((candidate) => candidate === parts.kind)
    if (!type) throw new SyntaxError(wrongType(parts, shape.types, next))
    const written = shape.value.exec(parts.value)?.[2] ?? ''
    return { type, ...(shape.standIn ? { default: shape.standIn(written) } : {}) }
  }

  #numbered(parts: Parts, table: string, shape: RegExp, next: number): void {
    const found = shape.exec(parts.value)?.[1]
    if (found === undefined) throw new SyntaxError(unreadable(parts.value))
    const pair = parts.value.startsWith(`${table},`)
    if (pair !== (parts.start !== undefined)) throw new SyntaxError(unreadable(parts.value))
    if (this.#isCounted) checkNumber(pair ? `${table}, ${next}` : `${table}[${next}]`, Number(found), next)
  }

  #notAfterRepeated(last: DeclaredKey | DeclaredArgument | undefined, what: string): void {
    if (last?.start !== undefined)
      throw new SyntaxError(
        `no ${what} may follow ${last.name}, which is repeated: move ${last.name} to the end`,
      )
  }
}

const TABLE = /^[A-Z][A-Z0-9_]*$/

function checkNumber(right: string, found: number, next: number): void {
  if (found !== next) throw new SyntaxError(`write ${right} here, not ${found}: the numbers count up from 1`)
}

function unreadable(value: string): string {
  return `the declaration cannot be read from "${value}": ${FORMS}`
}

function wrongType({ kind, value }: Parts, types: readonly ScalarType[], place: number): string {
  const written = WRITTEN.get(kind)
  if (written) return `"${value}" is ${types.join(' or ')}: for ${kind} write ${written(place)}`
  const known = [...WRITTEN.keys()]
  return `there is no kind of argument ${kind}: ${orNearest(kind, known, `use ${ELSEWHERE.get(kind) ?? known.join(', ')}`)}`
}

/** What is said of a kind of key that does not exist. */
export function noKind(kind: string): string {
  const known = [...KINDS.keys()]
  const written = known.map((each) => `'${each}'`)
  return `there is no kind of key ${kind}: ${orNearest(kind, known, `use ${written.join(', ')}`)}`
}

const FORMS =
  "write ARGV[1], tonumber(ARGV[1]), tonumber(ARGV[1] or 7), ARGV[1] == '1', ARGV[1] ~= '0', or local name, name_at = ARGV, 1 when repeated"

export const ONE_LINE =
  'a declaration is one line, with kind and meaning: write local name = ARGV[1] -- text: what it is'

function takeApart(text: string, line: number): Parts {
  const { names, value, kind, about } = LINE.exec(text)?.groups ?? {}
  if (names === undefined || value === undefined || kind === undefined || about === undefined) {
    throw new SyntaxError(ONE_LINE)
  }
  const [name, start, ...rest] = names.split(',').map((one) => one.trim())
  const isPair = /^(?:KEYS|ARGV), /.test(value)
  if (name === undefined || rest.length > 0 || (start !== undefined && !isPair))
    throw new SyntaxError(`this line declares ${names}: write one declaration a line`)
  if (!/^[a-z][a-z0-9_]*$/.test(name)) throw new SyntaxError(notSnake(name))
  return { name, ...(start === undefined ? {} : { start }), value, kind, about: about.trim(), line }
}

function repeatedFields(kind: string): ScalarField[] | null {
  const inner = /^repeated\s*\((.*)\)$/.exec(kind)?.[1]
  if (inner === undefined) return null
  const fields = scalarFields(inner)
  if (fields.length === 0)
    throw new SyntaxError('this repeated argument has no field: write repeated (id:integer): what it is')
  const odd = fields.find(({ optional }) => optional)
  if (odd)
    throw new SyntaxError(
      `the field ${odd.name} of a repeated argument cannot be null: remove its question mark`,
    )
  return fields
}
