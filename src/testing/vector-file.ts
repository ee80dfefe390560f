// A file of vectors; test/conformance/README.md describes it.

import type { Arguments } from './vector-contract.ts'

export interface VectorFile {
  readonly structure: string
  /** For each operation, the arguments of which a step need not speak. */
  readonly defaults: Readonly<Record<string, Arguments>>
  readonly vectors: readonly Vector[]
}

export interface Vector {
  /** What it shows: `deletes the feed and leaves no key`. */
  readonly it: string
  /** `unreleased`: the scripts of the last release do otherwise, so they do not play it. */
  readonly since?: string
  readonly steps: readonly Step[]
}

/** One thing to do, or to look at. */
export interface Step {
  /** `feed/append` */
  readonly call?: string
  /** The arguments of the call by name; those that are missing take the file's default. */
  readonly with?: Arguments
  readonly redis?: readonly unknown[]
  readonly advance_ms?: number
  readonly script_flush?: boolean
  readonly keys_left?: readonly string[]
  /** Which of the vector's units; by default the one without a name. */
  readonly unit?: string
  /** The unit beside it in the same slot, such as the dead letters of a feed. */
  readonly beside?: string
  readonly answer?: unknown
  readonly error?: string
}

/** A file as it is written: `{ "repeat": "x", "times": 3 }` is a text. */
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

/** The arguments of a step. The default of a repeated argument is what its groups leave out. */
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
