// How users use a structure, written once for all suites of this folder. A structure has one file here,
// uses/<structure>.ts, that exports `use`; the suites find it by its name.

import type { Redis } from 'ioredis'
import type { Driver, Perilune } from 'perilune'
import contract from '../../../lua/contract.json' with { type: 'json' }
import { STRUCTURES } from '../../conformance/files.ts'

/** Where a use takes place: no other use has this name. */
export interface Place {
  readonly redis: Perilune
  /** Under `redis`. */
  readonly driver: Driver
  /** A connection past all faults, for what only a test does. */
  readonly client: Redis
  readonly namespace: string
  readonly name: string
}

/**
 * How a server out of memory answers a call. `refuses`: nothing is changed, and the caller gets a definite
 * error; `serves`: as ever; `unasked`: the step consists of both.
 */
export type WhenFull = 'refuses' | 'serves' | 'unasked'

/**
 * One step of a program: the operation that it is there for, and the caller's view of it. That is the same in every
 * run, so it contains no token and no time.
 */
export type Step = readonly [operation: string, whenFull: WhenFull, run: () => Promise<unknown>]

/** At random: one write of sixteen looks for expired calls; which one depends on the earlier ones. */
export const LOOKING_FOR_CALLS: number = 16

/** A call whose cost must not grow with what the structure holds. */
export interface Work {
  readonly what: string
  /** At most so much in one script call. */
  readonly commands: number
  /** Arguments and parts of replies, of all commands together. */
  readonly elements: number
  /** How much more or less of both it may be by chance. Default 0. */
  readonly chance?: number
  /** Makes a structure of this size; resolves to the call on it. */
  prepare(place: Place, size: number): Promise<() => Promise<unknown>>
}

export interface Use {
  /** A program that runs every operation of the structure, one step after the other. */
  steps(place: Place): readonly Step[]
  readonly works: readonly Work[]
}

export interface StructureUse extends Use {
  readonly structure: keyof typeof contract.structures
}

/** Each folder in lua/ but the shared one is a structure. Throws when one has no file here. */
export async function allUses(): Promise<StructureUse[]> {
  return Promise.all(
    STRUCTURES.map(async (name) => {
      const { use }: { use: Use } = await import(new URL(`${name}.ts`, import.meta.url).href)
      return { structure: name as StructureUse['structure'], ...use }
    }),
  )
}

/** SHA-1 of each operation's script, under its name: `append`. */
export function scriptsOf(structure: string): Map<string, string> {
  const own = Object.entries(contract.operations).filter(([, { structure: of }]) => of === structure)
  return new Map(own.map(([name, { sha1 }]) => [name.slice(structure.length + 1), sha1]))
}

/** Waits until this is true, or throws what `unless` rejects with before. */
export async function reaches(
  question: () => Promise<boolean>,
  unless: Promise<unknown> = new Promise(() => undefined),
): Promise<void> {
  let over = false
  const failed = unless.then(
    () => new Promise<never>(() => undefined),
    (error: unknown) => {
      over = true
      throw error
    },
  )
  const asking = async (): Promise<void> => {
    while (!over && !(await question())) await new Promise((resolve) => setTimeout(resolve, 2))
  }
  await Promise.race([asking(), failed])
}

/** The whole answer of what a test expects to throw: the name of the error. */
export async function errorOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'none',
    (error: unknown) => (error instanceof Error ? error.name : String(error)),
  )
}

/**
 * The error of a call by token that finds no lease: the lease had ended before, or, if the call was sent twice, the
 * first copy may have ended it.
 */
export async function notKnownOf(call: Promise<unknown>): Promise<unknown> {
  const name = await errorOf(call)
  return name === 'LeaseLostError' || name === 'AmbiguousError' ? 'not known' : name
}
