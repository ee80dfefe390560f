// Jobs that wait for others: what can be said of it, and how the scripts take it.

import { changeParents, parents as parentsOfJob, type ParentsAnswer } from '../../generated/queue.ts'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { checkOneOf, checkOptions, checkText } from '../../runtime/values/arguments.ts'
import { checkName } from '../../runtime/values/keys.ts'
import { learnTold } from '../../runtime/waiting/told.ts'
import { type QueueSource, readAddress, toId } from '../source/source.ts'
import { PartReader, type UndecodablePart } from '../source/job-parts.ts'
import type { JobState } from './job.ts'

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

type Told = ParentsAnswer['parents'][number]

/** With so many bytes a page ends. */
const PAGE_BYTES = 2 ** 22

export interface ParentsPageOptions {
  /** `next` of the page before. */
  after?: string
}

export interface ParentsPage {
  readonly parents: readonly Parent[]
  /** Null at the end. */
  readonly next: string | null
}

/** The parents of a job, by its id; none where it is not known. */
export async function parentsOf(source: QueueSource, id: string): Promise<Parent[]> {
  const found: Parent[] = []
  for (let isWhole = false; !isWhole; ) {
    const told = await tell(source, id, found.length)
    found.push(...told.map((parent) => readParent(source, parent)))
    isWhole = isLastPage(told)
  }
  return found
}

/** As far as one answer tells them, behind those that the page before ended with. Throws InvalidArgumentError. */
export async function parentsPage(
  source: QueueSource,
  id: string,
  { after = '0' }: ParentsPageOptions,
): Promise<ParentsPage> {
  if (typeof after !== 'string' || !/^\d{1,3}$/.test(after)) {
    throw new InvalidArgumentError('after', 'must be the next of a page')
  }
  const told = await tell(source, id, Number(after))
  const next = isLastPage(told) ? null : String(Number(after) + told.length)
  return { parents: told.map((parent) => readParent(source, parent)), next }
}

async function tell(source: QueueSource, id: string, after: number): Promise<Told[]> {
  const { parents: told } = await source.unit.run(parentsOfJob, { codec: source.codec.name, id, after })
  return told
}

/** A page ends early behind large results. */
function isLastPage(told: readonly Told[]): boolean {
  const bytesOf = ({ result, message }: Told): number => result.length + Buffer.byteLength(message)
  return told.reduce((sum, parent) => sum + bytesOf(parent), 0) < PAGE_BYTES
}

function readParent(source: QueueSource, { queue, id, state, result, kind, message }: Told): Parent {
  const reader = new PartReader(source.codec)
  return {
    ...placeOfParent(source, queue, id),
    state: state as ParentState,
    result: reader.readAny('result', result),
    failure: state === 'dead' ? { kind, message } : null,
    undecodable: reader.undecodable,
  }
}

/** As users call them: its own queue is null, whichever partition it is. */
function placeOfParent(source: QueueSource, address: string, id: string): Pick<Parent, 'queue' | 'id'> {
  const { name, partition } = address === '' ? { name: source.name, partition: null } : readAddress(address)
  const number = partition?.number ?? (address === '' ? source.partition : null)
  const isOwn = address === '' || (partition !== null && name === source.name)
  return { queue: isOwn ? null : name, id: /^\d+$/.test(id) ? toId({ partition: number }, id) : id }
}

export type ParentsChanged = 'changed' | JobState | 'absent' | 'newer'

/** Lets a job wait for more parents, or for fewer; `parents` as the scripts take them. */
export async function changeParentsOf(
  { unit, chores }: QueueSource,
  id: string,
  parents: string,
  adds: boolean,
): Promise<ParentsChanged> {
  const named = parents.split('\0').filter((parent) => parent !== '')
  const changes = named.map((parent) => ({ adds, parent }))
  const answer = await unit.run(changeParents, { ...(await learnTold(unit)), id, changes })
  if (answer.status === 'refused') return answer.state as ParentsChanged
  void chores.see(answer.chores)
  return 'changed'
}
