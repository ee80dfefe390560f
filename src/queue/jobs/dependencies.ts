// Dependencies between jobs: their types, their checks, and their form for the scripts.

import {
  changeDependencies,
  dependencies as dependenciesOfJob,
  type DependenciesAnswer,
} from '../../generated/queue.ts'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { checkOneOf, checkOptions, checkText } from '../../runtime/values/arguments.ts'
import { checkName } from '../../runtime/values/keys.ts'
import { learnNotifyChannel } from '../../runtime/waiting/notify-channel.ts'
import { type QueueSource, readAddress, toId } from '../source/source.ts'
import { PartReader, type UndecodablePart } from '../source/job-parts.ts'
import type { JobState } from './job.ts'

/** A job of this queue by its id, or one of another queue. */
export type DependencyId = string | { readonly queue: string; readonly id: string }

/**
 * `fail`: the job dies as well; `cancel`: it is removed; `run`: it runs anyway, and can read how its dependencies
 * ended.
 */
export type OnDependencyFailure = 'fail' | 'cancel' | 'run'

export type DependencyState = 'pending' | 'done' | 'dead' | 'cancelled' | 'absent'

/** A job that another one waited for. */
export interface Dependency {
  /** Null for the queue of the job itself. */
  readonly queue: string | null
  readonly id: string
  /** `absent`: it does not exist (any more), and is treated as done. */
  readonly state: DependencyState
  /** The result that it was acked with; null when there is none, or it is not done. */
  readonly result: unknown
  /** The failure that made it dead; null when it is not dead. */
  readonly failure: { readonly kind: string; readonly message: string } | null
  /** Lists the result when the codec could not read it; `result` is null then. Else empty. */
  readonly undecodable: readonly UndecodablePart[]
}

const MAX_DEPENDENCIES = 100
const LETTERS = { fail: 'b', cancel: 'c', run: 'r' } as const

/** Throws InvalidArgumentError. */
export function toDependencies(dependencies: readonly DependencyId[], name = 'dependencies'): string {
  if (!Array.isArray(dependencies) || dependencies.length > MAX_DEPENDENCIES) {
    throw new InvalidArgumentError(name, `must be a list of at most ${MAX_DEPENDENCIES} ids`)
  }
  return [...new Set(dependencies.map((dependency) => toDependency(dependency as DependencyId, name)))].join(
    '\0',
  )
}

/** Throws InvalidArgumentError. */
function toDependency(dependency: DependencyId, name: string): string {
  if (typeof dependency === 'string') return `l${checkText(name, dependency, 512)}`
  checkOptions(name, dependency, ['queue', 'id'])
  return `q${checkName(`${name}.queue`, dependency.queue)}\x01${checkText(`${name}.id`, dependency.id, 512)}`
}

/** Throws InvalidArgumentError. */
export function toOnDependencyFailure(what: OnDependencyFailure): string {
  return LETTERS[checkOneOf('onDependencyFailure', what, ['fail', 'cancel', 'run'])]
}

type RawDependency = DependenciesAnswer['dependencies'][number]

/** A page ends once it has this many bytes. */
const PAGE_BYTES = 2 ** 22

export interface DependenciesPageOptions {
  /** `next` of the page before. */
  after?: string
}

export interface DependenciesPage {
  readonly dependencies: readonly Dependency[]
  /** Null at the end. */
  readonly next: string | null
}

/** The dependencies of a job; empty when the job is not known. */
export async function dependenciesOf(source: QueueSource, id: string): Promise<Dependency[]> {
  const found: Dependency[] = []
  for (let isWhole = false; !isWhole; ) {
    const raw = await fetchPage(source, id, found.length)
    found.push(...raw.map((dependency) => readDependency(source, dependency)))
    isWhole = isLastPage(raw)
  }
  return found
}

/** The dependencies of one answer, from where the page before ended. Throws InvalidArgumentError. */
export async function dependenciesPage(
  source: QueueSource,
  id: string,
  { after = '0' }: DependenciesPageOptions,
): Promise<DependenciesPage> {
  if (typeof after !== 'string' || !/^\d{1,3}$/.test(after)) {
    throw new InvalidArgumentError('after', 'must be the next of a page')
  }
  const raw = await fetchPage(source, id, Number(after))
  const next = isLastPage(raw) ? null : String(Number(after) + raw.length)
  return { dependencies: raw.map((dependency) => readDependency(source, dependency)), next }
}

async function fetchPage(source: QueueSource, id: string, after: number): Promise<RawDependency[]> {
  const { dependencies: raw } = await source.unit.run(dependenciesOfJob, {
    codec: source.codec.name,
    id,
    after,
  })
  return raw
}

/** A page that is not the last one has reached PAGE_BYTES. */
function isLastPage(raw: readonly RawDependency[]): boolean {
  const bytesOf = ({ result, message }: RawDependency): number => result.length + Buffer.byteLength(message)
  return raw.reduce((sum, dependency) => sum + bytesOf(dependency), 0) < PAGE_BYTES
}

function readDependency(
  source: QueueSource,
  { queue, id, state, result, kind, message }: RawDependency,
): Dependency {
  const reader = new PartReader(source.codec)
  return {
    ...placeOfDependency(source, queue, id),
    state: state as DependencyState,
    result: reader.readAny('result', result),
    failure: state === 'dead' ? { kind, message } : null,
    undecodable: reader.undecodable,
  }
}

/** In the form of the API: the job's own queue is null, in any of its partitions. */
function placeOfDependency(
  source: QueueSource,
  address: string,
  id: string,
): Pick<Dependency, 'queue' | 'id'> {
  const { name, partition } = address === '' ? { name: source.name, partition: null } : readAddress(address)
  const number = partition?.number ?? (address === '' ? source.partition : null)
  const isOwn = address === '' || (partition !== null && name === source.name)
  return { queue: isOwn ? null : name, id: /^\d+$/.test(id) ? toId({ partition: number }, id) : id }
}

export type DependenciesChanged = 'changed' | JobState | 'absent' | 'newer'

/** Adds or removes dependencies of a job; `dependencies` in the form that the scripts take. */
export async function changeDependenciesOf(
  { unit, chores }: QueueSource,
  id: string,
  dependencies: string,
  adds: boolean,
): Promise<DependenciesChanged> {
  const named = dependencies.split('\0').filter((dependency) => dependency !== '')
  const changes = named.map((dependency) => ({ adds, dependency }))
  const answer = await unit.run(changeDependencies, { ...(await learnNotifyChannel(unit)), id, changes })
  if (answer.status === 'refused') return answer.state as DependenciesChanged
  void chores.see(answer.chores)
  return 'changed'
}
