// The patterns of vectors: "$name" is bound at its first use and must be equal later, "$name+5" is a sum,
// "${epoch}-${first+1}" a text with values in it, ">$name" or ">5" a lower bound, "*" anything. "$t" and "$us" are the
// clock in milliseconds and microseconds.

import { isDeepStrictEqual } from 'node:util'
import type { Value } from './vector-value.ts'

const VARIABLE = /^\$([a-z_0-9]+)$/
const SUM = /^\$([a-z_0-9]+)([+-]\d+)?$/
const INSERT = /\$\{([a-z_0-9]+)([+-]\d+)?\}/g

export class Bindings {
  readonly #values = new Map<string, Value>()

  setClock(us: number): void {
    this.#values.set('us', us)
    this.#values.set('t', Math.floor(us / 1000))
  }

  /** A value with its variables filled in. Throws for a variable without a value. */
  fill(value: unknown): unknown {
    if (typeof value === 'string') return this.#fillText(value)
    if (Array.isArray(value)) return value.map((part) => this.fill(part))
    return typeof value === 'object' && value !== null ? this.fillAll(value) : value
  }

  /** An object with the variables in its values filled in. */
  fillAll(values: object): Record<string, unknown> {
    return Object.fromEntries(Object.entries(values).map(([name, part]) => [name, this.fill(part)]))
  }

  /** A description of the first difference between value and pattern; null when they match. */
  mismatch(pattern: unknown, value: Value | undefined, path = 'answer'): string | null {
    if (Array.isArray(pattern) && Array.isArray(value)) return this.#listMismatch(pattern, value, path)
    if (this.#fits(pattern, value)) return null
    return `${path} is ${JSON.stringify(value)}, expected ${this.#describe(pattern)}`
  }

  #listMismatch(pattern: readonly unknown[], value: readonly Value[], path: string): string | null {
    for (const [at, part] of pattern.entries()) {
      const found = this.mismatch(part, value[at], `${path}[${at}]`)
      if (found !== null) return found
    }
    return value.length > pattern.length ? `${path} has ${value.length - pattern.length} more` : null
  }

  #fits(pattern: unknown, value: Value | undefined): boolean {
    if (typeof pattern !== 'string') return isDeepStrictEqual(pattern, value)
    if (pattern === '*') return value !== undefined
    const unbound = this.#unboundName(pattern)
    if (unbound !== undefined && value !== undefined) {
      this.#values.set(unbound, value)
      return true
    }
    if (pattern.startsWith('>')) return Number(value) > Number(this.fill(pattern.slice(1)))
    return isDeepStrictEqual(this.fill(pattern), value)
  }

  #unboundName(pattern: string): string | undefined {
    const name = VARIABLE.exec(pattern)?.[1]
    return name !== undefined && !this.#values.has(name) ? name : undefined
  }

  #describe(pattern: unknown): string {
    const filled = JSON.stringify(this.fill(pattern))
    const written = JSON.stringify(pattern)
    return filled === written ? written : `${filled} (${written})`
  }

  #fillText(text: string): Value {
    const [, name, offset] = SUM.exec(text) ?? []
    if (name !== undefined) return this.#sum(name, offset)
    return text.replace(INSERT, (_, inner: string, by?: string) => toText(this.#sum(inner, by)))
  }

  #sum(name: string, offset: string | undefined): Value {
    const value = this.#values.get(name)
    if (value === undefined) throw new Error(`nothing has bound $${name}`)
    return offset === undefined ? value : Number(value) + Number(offset)
  }
}

function toText(value: Value): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
