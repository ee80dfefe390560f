// Operations in an unusual layout: statements share lines, functions are used or not, comments and texts look like
// code.

import type { GeneratorValue } from 'fast-check'
import * as fc from 'fast-check'

export interface OddSource {
  readonly operation: string
  /** `shared/odd`; empty where it is not included. */
  readonly fragment: string
}

const HEAD = `--[[
Acts.

@returns done  trace:text
@cost    O(1)
]]
local given = ARGV[1] -- text: what to begin with
`
/** The keys that it takes. */
export const KEYS = "return {\n  state = 'hash', -- what was seen\n}\n"
const INCLUDE = '-- include shared/odd'

/** An operation, its fragment, and how its lines end. */
export function oddSource(gen: GeneratorValue): OddSource {
  const writer = new Writer(gen)
  const fragment = writer.chance(2) ? writer.functions() : ''
  const known = writer.known
  const body = writer.block(8, known)
  const text = `${HEAD}\nlocal trace = given\n${body}\n${writer.end()}`
  const crlf = writer.chance(4)
  return { operation: crlf ? text.replaceAll('\n', '\r\n') : text, fragment }
}

/** The text of the operation as one script, as if by hand. */
export function byHand({ operation, fragment }: OddSource): string {
  const text = operation.replaceAll('\r\n', '\n')
  const whole = fragment === '' ? text : text.replace(HEAD, () => `${HEAD}\n${fragment}\n`)
  return whole.replaceAll('keys.state', 'KEYS[1]')
}

class Writer {
  readonly #gen: GeneratorValue
  readonly known: string[] = []
  #made = 0

  constructor(gen: GeneratorValue) {
    this.#gen = gen
  }

  /** One in so many. */
  chance(of: number): boolean {
    return this.#upTo(of - 1) === 0
  }

  /** Statements with what is between them; `known`: the functions in scope. */
  block(most: number, known: string[]): string {
    const count = this.#upTo(most)
    return Array.from({ length: count }, () => `${this.#statement(known)}${this.#between()}`).join('')
  }

  /** A fragment: functions only. */
  functions(): string {
    const count = 1 + this.#upTo(3)
    return Array.from({ length: count }, () => `${this.#function(this.known)}${this.#between()}`).join('')
  }

  end(): string {
    return `redis.call('HSET', keys.state, 'trace', trace)${this.#between()}return { 'done', trace }\n`
  }

  #statement(known: string[]): string {
    const inner = (): string => this.block(3, [...known])
    const at = this.#upTo(18)
    if (at < 4) return this.#function(known)
    if (at < 6) return `trace = trace .. ${this.#call(known)}`
    if (at === 6) return `do${this.#gap()}${inner()}end`
    if (at === 7) return `if #trace % 2 == 0 then${this.#gap()}${inner()}else${this.#gap()}${inner()}end`
    if (at === 8) return `for step = 1, 2 do${this.#gap()}${inner()}trace = trace .. step${this.#gap()}end`
    if (at === 9) return `repeat local seen = ${this.#call(known)}${this.#gap()}${inner()}until seen ~= ''`
    if (at === 10) return `redis.call('HSET', keys.state, 'k' .. #trace, ${this.#call(known)})`
    if (at === 11) return `local ${this.#name()}, ${this.#name()} = function() return 1 end, ${this.#text()}`
    if (at === 12) return `(tostring)(${this.#call(known)})`
    if (at === 13) return `local trace = trace .. 'l'`
    if (at === 14) return `for _, trace in ipairs({ trace, 'i' }) do${this.#gap()}${inner()}end`
    if (at === 15)
      return `local odd = { trace = trace, a = 'a' } function odd.b(trace, a) return trace:rep(1) .. a end trace = odd.b(odd.trace, odd.a)`
    if (at === 16)
      return `local function more(...)${this.#gap()}local a, b = ...${this.#gap()}return b or a, ... end trace = trace .. (more('a', 'b'))`
    if (at === 17)
      return `local a, b, K = 1 ..'a', 2 - -1, 0x1 .. ''${this.#gap()}trace = trace .. a .. b .. K`
    return `if #trace > 60 then trace = trace.odd.odd end`
  }

  #function(known: string[]): string {
    const name = this.chance(3) && known.length > 0 ? this.#one(known) : this.#name()
    // None calls itself: it might never end.
    const others = known.filter((each) => each !== name)
    const inner = this.chance(2) ? this.block(2, [...others]).replaceAll('trace', 'x') : ''
    const answer = this.chance(2) ? `x .. '${name}'` : this.#call(others).replaceAll('trace', 'x')
    const body = `(x)${this.#gap()}${inner}return ${answer}${this.#gap()}end`
    if (!known.includes(name)) known.push(name)
    return this.chance(3) ? `local ${name} =${this.#gap()}function${body}` : `local function ${name}${body}`
  }

  /** A value; often of a function that is in scope. */
  #call(known: readonly string[]): string {
    if (known.length === 0 || this.chance(3)) return this.#text()
    return this.chance(3) ? `${this.#one(known)} 'y'` : `${this.#one(known)}(${this.#text()})`
  }

  #text(): string {
    const texts = [
      "'a'",
      '"b\\\\"',
      '[[c]]',
      "'--'",
      '[[\n-- local function f1() end\n]]',
      '[==[ ]] ]==]',
      "'\\'`${x}'",
      "'é€😀'",
    ]
    return this.#one([...texts, `[[\n${INCLUDE}\n]]`])
  }

  /** After a statement: its end or not, and at least one character that separates it from the next one. */
  #between(): string {
    const before = this.chance(3) ? this.#gap() : ''
    return `${before}${this.chance(3) ? ';' : ''}${this.#gap()}`
  }

  #gap(): string {
    const gaps = [
      ' ',
      '\n',
      '\n\n',
      '\n  ',
      '\t',
      ' \n',
      ' -- odd\n',
      '\n-- local function odd()\n',
      ' --[[ odd ]] ',
    ]
    return this.#one([
      ...gaps,
      '\n--[[ odd\n-- odd ]]\n',
      '\n--[==[\n]] end\n]==]',
      `\n--[[\n${INCLUDE}\n]]\n`,
      '\n--\n',
    ])
  }

  #name(): string {
    this.#made += 1
    return `f${this.#made}`
  }

  #upTo(most: number): number {
    return this.#gen(fc.nat, { max: most })
  }

  #one<Value>(all: readonly Value[]): Value {
    return all[this.#upTo(all.length - 1)] as Value
  }
}
