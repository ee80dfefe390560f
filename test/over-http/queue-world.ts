// The known state of a queue in a history, and jobs as both sides return them.

import type { ClaimedJob, Job, NewJob, Queue } from 'perilune'
import { found } from './outcome.ts'
import type { Query } from './requests.ts'
import type { Pair, Part, Sides } from './sides.ts'

export type Jobs = Record<string, unknown>

/** The identity of a claim outside of its process. */
export interface Token {
  readonly id: string
  readonly token: number
}

/** A claimed job: by its handle, and as the service returned it. */
export type Held = Pair<ClaimedJob, Token>

export interface QueueWorld {
  readonly sides: Sides
  readonly url: string
  /** The number of partitions; null: none. A queue in partitions has the same methods. */
  readonly partitions: number | null
  readonly queue: Queue<Jobs>
  /** The part of each request that names the queue. */
  readonly query: Query
  held: Held[]
  /** Attempts that are over, or were never. */
  readonly over: Pair<Token>[]
  /** Names of jobs, some of which no longer exist. */
  readonly ids: Pair<string>[]
}

/** The possible steps on a part of it. */
export type QueueSteps = Pick<Part, 'steps' | 'looks'>

export const LEASE = '1h'
export const VALUES: readonly unknown[] = [1, 'two', null, { three: [3] }, 'x'.repeat(200)]
export const GROUPS: readonly string[] = ['shop', 'a/b é']
export const TAGS: readonly string[] = ['red', 'blue', 'é/x']
export const KINDS: readonly string[] = ['smtp', 'a/b é']

export function worldOf(sides: Sides, partitions: number | null): QueueWorld {
  const { name, redis } = sides
  const options = partitions === null ? {} : { partitions }
  const never = { id: 'unknown', token: 1 }
  return {
    sides,
    url: `/queues/${name}`,
    partitions,
    queue: redis.queue<Jobs>(name, options as object),
    query: options,
    held: [],
    over: [{ here: never, there: never }],
    ids: [{ here: 'unknown', there: 'unknown' }],
  }
}

/** The options that jobs have which are enqueued, spawned, or follow others. Nothing of it ends or begins meanwhile. */
export function drawOptions({ sides: { dice } }: QueueWorld): object {
  return {
    ...(dice.chance(0.3) && { priority: dice.oneOf([-1, 1, 5]) }),
    ...(dice.chance(0.5) && { maxAttempts: 1 + dice.upTo(2) }),
    // By default a job that is retried is ready after a second.
    backoff: dice.oneOf([
      'none',
      { kind: 'fixed', base: '2h', jitter: 0 },
      { kind: 'exponential', base: '1h', max: '3h', jitter: 0 },
    ]),
    ...(dice.chance(0.2) && { maxRun: '1h' }),
    ...(dice.chance(0.3) && { group: dice.oneOf(GROUPS) }),
    ...(dice.chance(0.3) && { tags: TAGS.filter(() => dice.chance(0.5)) }),
    ...(dice.chance(0.2) && { trace: `trace ${dice.upTo(9)}` }),
    ...(dice.chance(0.2) && { unique: drawUnique(dice.oneOf(['u', 'v']), dice.upTo(3)) }),
  }
}

function drawUnique(key: string, kind: number): object | string {
  return [key, { key, until: 'started' }, { key, for: '1h' }, { key, until: 'done' }][kind] ?? key
}

/**
 * A new job on both sides. In partitions it has an id, because a job without one goes to a partition that the process
 * chooses, by turns that begin anywhere; and no dependencies, because messages between partitions arrive in their own
 * time.
 */
export function drawJob(world: QueueWorld): Pair<NewJob<Jobs>> {
  const { dice } = world.sides
  const isDependent = world.partitions === null && dice.chance(0.25)
  const dependencies = isDependent ? Array.from({ length: 1 + dice.upTo(1) }, () => drawId(world)) : null
  const job = {
    name: dice.oneOf(['mail', 'digest']),
    payload: dice.oneOf(VALUES),
    ...drawOptions(world),
    ...((world.partitions !== null || dice.chance(0.4)) && { id: `id${dice.upTo(30)}` }),
    ...(dice.chance(0.2) && { delay: '1h' as const }),
    ...(dice.chance(0.2) && { idempotencyKey: `k${dice.upTo(9)}` }),
    ...(dice.chance(0.3) && { resultTtl: '1h' as const }),
    ...(dice.chance(0.3) && { onDependencyFailure: dice.oneOf(['fail', 'cancel', 'run'] as const) }),
  }
  if (dependencies === null) return { here: job, there: job }
  return {
    here: { ...job, dependsOn: dependencies.map(({ here }) => here) },
    there: { ...job, dependsOn: dependencies.map(({ there }) => there) },
  }
}

/** One of the newest, or one that never was. */
export function drawId({ sides: { dice }, ids }: QueueWorld): Pair<string> {
  return dice.chance(0.1) ? (ids[0] as Pair<string>) : dice.oneOf(ids.slice(-15))
}

export function drawIds(world: QueueWorld): Pair<string[]> {
  const drawn = Array.from({ length: 1 + world.sides.dice.upTo(3) }, () => drawId(world))
  return { here: drawn.map(({ here }) => here), there: drawn.map(({ there }) => there) }
}

/** For a path. */
export function pathOf(id: string): string {
  return encodeURIComponent(id)
}

export function tokenOf({ id, token }: Token): Token {
  return { id, token }
}

/** From now on its token is all that is known of it. Null where none is held. */
export function takeHeld(world: QueueWorld): Held | null {
  if (world.held.length === 0) return null
  const one = world.sides.dice.oneOf(world.held)
  leave(world, [one])
  return one
}

export function leave(world: QueueWorld, left: readonly Held[]): void {
  world.held = world.held.filter((each) => !left.includes(each))
  world.over.push(...left.map(({ here, there }) => ({ here: tokenOf(here), there })))
}

/** As the service returns it: nothing is null. */
export function shownJob<Shown extends Job>(job: Shown): object {
  const { payload = null, result = null, progress = null, ...rest } = job
  return { ...rest, payload, result, progress }
}

export function shownFound<Shown extends Job>(job: Shown | null): object {
  return shownJob(found(job))
}

/** In an order that both sides share, when the queue has none. */
export function byId<Identified extends { readonly id: string; readonly group?: string }>(
  jobs: readonly Identified[],
): Identified[] {
  const keyOf = ({ id, group = '' }: Identified): string => `${id} ${group}`
  return jobs.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}
