// Jobs that wait for others: what can be said of it, and how the scripts take it.

import { checkOneOf, checkOptions, checkText } from '../../runtime/values/arguments.ts'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { checkName } from '../../runtime/values/keys.ts'
import type { UndecodablePart } from '../source/job-parts.ts'

/** A job of this queue by its id, or one of another queue. */
export type ParentId = string | { readonly queue: string; readonly id: string }

/** `bury`: the job dies as well; `cancel`: it is removed; `run`: it runs all the same, and sees how its parents ended. */
export type IfParentFails = 'bury' | 'cancel' | 'run'

export type ParentState = 'pending' | 'done' | 'dead' | 'cancelled' | 'absent'

/** A job that another one waited for. */
export interface Parent {
  /** Null: the queue of the job itself. */
  readonly queue: string | null
  readonly id: string
  /** `absent`: it was not known (any more), and taken for done. */
  readonly state: ParentState
  /** What it was acked with; null: nothing, or it is not done. */
  readonly result: unknown
  /** What it died of; null: it did not. */
  readonly failure: { readonly kind: string; readonly message: string } | null
  /** The result, where the codec could not read it; it is null above. Empty: it could. */
  readonly undecodable: readonly UndecodablePart[]
}

const MAX_PARENTS = 100
const LETTERS = { bury: 'b', cancel: 'c', run: 'r' } as const

/** Throws InvalidArgumentError. */
export function toParents(parents: readonly ParentId[], name = 'parents'): string {
  if (!Array.isArray(parents) || parents.length > MAX_PARENTS) {
    throw new InvalidArgumentError(name, `must be a list of at most ${MAX_PARENTS} ids`)
  }
  return [...new Set(parents.map((parent) => toParent(parent as ParentId, name)))].join('\0')
}

/** Throws InvalidArgumentError. */
function toParent(parent: ParentId, name: string): string {
  if (typeof parent === 'string') return `l${checkText(name, parent, 512)}`
  checkOptions(name, parent, ['queue', 'id'])
  return `q${checkName(`${name}.queue`, parent.queue)}\x01${checkText(`${name}.id`, parent.id, 512)}`
}

/** Throws InvalidArgumentError. */
export function toIfParentFails(what: IfParentFails): string {
  return LETTERS[checkOneOf('ifParentFails', what, ['bury', 'cancel', 'run'])]
}
