// Short names for the locals and parameters of what is sent. Those in a definition follow from its own text alone, so
// that it reads the same in each script. Names of definitions stay, and no short name is that of a definition or of
// something that Redis offers: wherever code sinks to, each name in it means what it did.

import type { Statement } from 'luaparse'
import type { Edit } from './edit.ts'
import { OFFERED } from './offered.ts'
import { type Binding, isWithin, type Names, type Span, spanOf } from './scope.ts'

/** What the table of keys is called, which the compiler writes. */
const KEY_TABLE = 'K'

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'.split('')
/** The short words of Lua, and what no local may hide. */
const WORDS: ReadonlySet<string> = new Set(
  `and arg do end for if in nil not or ${KEY_TABLE} ${[...OFFERED].join(' ')}`.split(' '),
)

export interface Naming {
  /** Statements of modules, at the top of the script: what they define keeps its name. */
  readonly definitions: readonly Statement[]
  /** What makes the table of keys; null where there is none. */
  readonly keyTable: Statement | null
  /** What is left out of the script, and needs no names. */
  readonly gone: readonly Span[]
  /** The names of all definitions, whether the script has them or not. */
  readonly taken: { has(name: string): boolean }
}

/** What writes short names into the script that was resolved. */
export function shortNames({ bindings }: Pick<Names, 'bindings'>, naming: Naming): Edit[] {
  const names = new ShortNames(bindings, naming)
  return bindings.flatMap((binding) => {
    const text = names.of(binding)
    if (text === null) return []
    const places = [binding.declared, ...binding.reads, ...binding.writes]
    return places.map((place) => ({ ...spanOf(place), text }))
  })
}

/** The statement of a module that contains a local; null for one of the operation. */
type Unit = Statement | null

class ShortNames {
  readonly #naming: Naming
  /** Those that get a letter, each with its unit. */
  readonly #units: ReadonlyMap<Binding, Unit>
  readonly #candidates = words()
  /** In the order in which they are given away. */
  readonly #sequence: string[] = []

  constructor(bindings: readonly Binding[], naming: Naming) {
    this.#naming = naming
    this.#units = unitsOf(bindings, naming)
  }

  /** Null where a local keeps its name, or needs none. */
  of(binding: Binding): string | null {
    const { keyTable, taken } = this.#naming
    if (keyTable !== null && binding.statement === keyTable) return taken.has(KEY_TABLE) ? null : KEY_TABLE
    return this.#units.has(binding) ? this.#name(this.#inScope(binding)) : null
  }

  /** How many of its unit are in scope where it is declared. Hidden ones count: so no short name hides another one. */
  #inScope(binding: Binding): number {
    const unit = this.#units.get(binding)
    let count = 0
    for (let each = binding.before; each !== null; each = each.before)
      if (this.#units.has(each) && this.#units.get(each) === unit) count += 1
    return count
  }

  #name(at: number): string {
    while (this.#sequence.length <= at) {
      const { value } = this.#candidates.next()
      if (!WORDS.has(value) && !this.#naming.taken.has(value)) this.#sequence.push(value)
    }
    return this.#sequence[at] as string
  }
}

function unitsOf(
  bindings: readonly Binding[],
  { definitions, keyTable, gone }: Naming,
): ReadonlyMap<Binding, Unit> {
  const units = new Map<Binding, Unit>()
  for (const binding of bindings) {
    const unit = definitions.find((each) => isWithin(binding.declared, [spanOf(each)])) ?? null
    const isKeyTable = keyTable !== null && binding.statement === keyTable
    if (
      isKeyTable ||
      binding.kind === 'implied' ||
      isDefinedBy(binding, unit) ||
      isWithin(binding.declared, gone)
    )
      continue
    units.set(binding, unit)
  }
  return units
}

function isDefinedBy({ declared }: Binding, unit: Unit): boolean {
  if (unit?.type === 'LocalStatement') return unit.variables.includes(declared)
  return unit?.type === 'FunctionDeclaration' && unit.identifier === declared
}

/** `a`, `b` … `Z`, `aa`, `ab` … */
function* words(): Generator<string, never> {
  let beginnings = ['']
  while (true) {
    const next = beginnings.flatMap((beginning) => LETTERS.map((letter) => beginning + letter))
    yield* next
    beginnings = next
  }
}
