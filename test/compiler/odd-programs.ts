// Unusual Lua programs: few names for many things, functions in functions, branches, loops, early ends.
// Each returns a list of what it did.

import { dice } from '../simulator/stage.ts'

type Kind = 'function' | 'table' | 'number'
/** The meaning of each name; an inner one shadows an outer one. */
type Scope = ReadonlyMap<string, Kind>

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f']
const MOST_LEVELS = 4

/** Programs, line by line; the same for the same seed. */
export function programs(count: number, seed = 1): string[][] {
  const roll = dice(seed)
  return Array.from({ length: count }, () => [
    'local story, steps = {}, 0',
    ...new Writer(roll).block(new Map(), 0, 14),
    'return story',
  ])
}

class Writer {
  readonly #roll: (sides: number) => number

  constructor(roll: (sides: number) => number) {
    this.#roll = roll
  }

  block(around: Scope, level: number, most: number): string[] {
    const scope = new Map(around)
    const statements = Array.from({ length: 2 + this.#roll(most) }, () => this.#statement(scope, level))
    const margin = '  '.repeat(level)
    return statements.flat().map((line) => (line.startsWith(' ') ? line : margin + line))
  }

  #statement(scope: Map<string, Kind>, level: number): string[] {
    const margin = '  '.repeat(level)
    switch (this.#roll(level < MOST_LEVELS ? 12 : 7)) {
      case 0:
        return this.#declare(scope, 'number', (name) => `local ${name} = ${this.#roll(9)}`)
      case 1:
        return this.#declare(
          scope,
          'table',
          (name) => `local ${name} = { ${this.#roll(9)}, ARGV[1], { 'x' } }`,
        )
      case 2:
        return this.#on(scope, 'number', (name) => `${name} = ${name} + 1`)
      case 3:
        return this.#on(scope, 'table', (name) => `${name}[1] = ${name}[1] + 1`)
      case 4:
        return this.#on(scope, 'table', (name) => `story[#story + 1] = '${name}' .. ${name}[1] .. ${name}[2]`)
      case 5:
        return this.#on(scope, 'function', (name) => `story[#story + 1] = ${name}(${this.#roll(3)})`)
      case 6:
        return this.#on(scope, 'number', (name) => `story[#story + 1] = ${name}`)
      case 7: {
        const condition = ['ARGV[1]', 'ARGV[2]', '#story % 2 == 0'][this.#roll(3)]
        const other = this.#roll(2) === 0 ? [] : [`${margin}else`, ...this.block(scope, level + 1, 3)]
        return [`if ${condition} then`, ...this.block(scope, level + 1, 4), ...other, `${margin}end`]
      }
      case 8: {
        const name = this.#name()
        const inside = this.block(new Map([...scope, [name, 'number']]), level + 1, 3)
        return [`for ${name} = 1, 2 do`, ...inside, `${margin}end`]
      }
      case 9:
        return this.#loop(scope, level)
      default:
        return this.#function(scope, level)
    }
  }

  /** One that asks a function each time, which counts. */
  #loop(scope: Map<string, Kind>, level: number): string[] {
    const [comment = '', head = '', ...body] = this.#function(scope, level)
    const name = comment.slice('-- '.length)
    const margin = '  '.repeat(level)
    const counted = [`${margin}  asked[1] = asked[1] + 1`, `${margin}  story[#story + 1] = asked[1]`]
    const asked = [`${margin}local asked = { 0 }`, comment, head, ...counted, ...body]
    const inside = [`${margin}  steps = steps + 50`, ...this.block(scope, level + 1, 2)]
    return this.#roll(2) === 0
      ? [...asked, `while steps < 200 and ${name}(1) do`, ...inside, `${margin}end`]
      : [...asked, 'repeat do', ...inside, `${margin}end until steps > 200 or not ${name}(1)`]
  }

  #function(scope: Map<string, Kind>, level: number): string[] {
    const [name, parameter] = [this.#name(), this.#name()]
    // It does not call itself: its arguments would have to end the recursion.
    const inner = new Map([...scope].filter(([each]) => each !== name))
    const body = this.block(new Map([...inner, [parameter, 'number']]), level + 1, 4)
    scope.set(name, 'function')
    const margin = '  '.repeat(level)
    // Those in each other would run for ever longer.
    const bound = [`${margin}  steps = steps + 1`, `${margin}  if steps > 300 then return 'end' end`]
    return [
      `-- ${name}`,
      `local function ${name}(${parameter})`,
      ...bound,
      ...body,
      `${margin}  return '${name}'`,
      `${margin}end`,
    ]
  }

  #declare(scope: Map<string, Kind>, kind: Kind, text: (name: string) => string): string[] {
    const name = this.#name()
    scope.set(name, kind)
    return [text(name)]
  }

  #on(scope: Scope, kind: Kind, text: (name: string) => string): string[] {
    const names = [...scope].filter(([, each]) => each === kind)
    const [name] = names[this.#roll(Math.max(1, names.length))] ?? []
    return name === undefined ? [] : [text(name)]
  }

  #name(): string {
    return NAMES[this.#roll(NAMES.length)] ?? 'a'
  }
}
