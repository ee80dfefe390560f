// A file of vectors, described in test/conformance/README.md.

import type { Arguments } from './vector-contract.ts'

export interface VectorFile {
  readonly structure: string
  /** For each operation, default arguments for its steps. */
  readonly defaults: Readonly<Record<string, Arguments>>
  readonly vectors: readonly Vector[]
}

export interface Vector {
  /** The behavior shown: `deletes the feed and leaves no key`. */
  readonly it: string
  /** `unreleased`: the scripts of the last release behave differently, so they skip this vector. */
  readonly since?: string
  readonly steps: readonly Step[]
}

/** One action or check. */
export interface Step {
  /** `feed/append` */
  readonly call?: string
  /** The arguments of the call by name; missing ones take the file's default. */
  readonly with?: Arguments
  readonly redis?: readonly unknown[]
  readonly advance_ms?: number
  readonly script_flush?: boolean
  readonly keys_left?: readonly string[]
  /** The unit of the vector; default: the one without a name. */
  readonly unit?: string
  /** A second unit in the same slot, such as the dead letters of a feed. */
  readonly beside?: string
  readonly answer?: unknown
  readonly error?: string
}

/** Parses a file; `{ "repeat": "x", "times": 3 }` is a text. */
export function parseVectors(text: string): VectorFile {
  const file: VectorFile = JSON.parse(text, (_, value: unknown) => (isRepeat(value) ? spelled(value) : value))
  return file
}

interface Repeat {
  readonly repeat: string
  readonly times: number
}

function isRepeat(value: unknown): value is Repeat {
  return typeof value === 'object' && value !== null && 'repeat' in value && 'times' in value
}

function spelled({ repeat, times }: Repeat): string {
  return repeat.repeat(times)
}

/** The arguments of a step. The default of a repeated argument fills in what its groups omit. */
export function argumentsOf(file: VectorFile, name: string, given: Arguments = {}): Arguments {
  const filled: Record<string, unknown> = { ...given }
  for (const [argument, standard] of Object.entries(file.defaults[name] ?? {})) {
    filled[argument] = isGroup(standard)
      ? withGroup(standard, given[argument])
      : (given[argument] ?? standard)
  }
  return filled
}

function withGroup(standard: Arguments, groups: unknown): unknown {
  return Array.isArray(groups) ? groups.map((group: Arguments) => ({ ...standard, ...group })) : []
}

function isGroup(standard: unknown): standard is Arguments {
  return typeof standard === 'object' && standard !== null && !Array.isArray(standard)
}
