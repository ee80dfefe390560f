// Queues, in partitions or not: jobs that are enqueued and claimed, and the queue as a whole. Messages to other queues
// (dependencies and successors there) arrive in their own time, and are left out.

import type { ClaimedJob, DetachedJob, Queue } from 'perilune'
import { done, Refused } from './outcome.ts'
import { attemptsIn } from './queue-attempts.ts'
import { jobsIn } from './queue-jobs.ts'
import { manyIn } from './queue-many.ts'
import { notesIn } from './queue-notes.ts'
import { settingsOf } from './queue-settings.ts'
import {
  byId,
  drawJob,
  type Held,
  type Jobs,
  LEASE,
  leave,
  type QueueWorld,
  shownJob,
  type Token,
  takeHeld,
  tokenOf,
  worldOf,
} from './queue-world.ts'
import type { Part, Sides } from './sides.ts'

export function queuePart(sides: Sides): Part {
  return partOf(worldOf(sides, null))
}

export function partitionedQueuePart(sides: Sides): Part {
  return partOf(worldOf(sides, 3))
}

function partOf(world: QueueWorld): Part {
  const others = [attemptsIn(world), manyIn(world), jobsIn(world), notesIn(world), settingsOf(world)]
  return {
    steps: [
      ...Array.from({ length: 12 }, () => () => enqueue(world)),
      () => enqueueWrongly(world),
      ...Array.from({ length: 12 }, () => () => claim(world)),
      () => claimAndAck(world),
      () => claimWrongly(world),
      () => clear(world),
      ...others.flatMap(({ steps }) => steps),
    ],
    looks: [() => inspect(world), () => list(world), ...others.flatMap(({ looks }) => looks)],
    contents: (redis, called) => contentsOf(redis.queue<Jobs>(called, world.query as object), world),
  }
}

async function contentsOf(queue: Queue<Jobs>, { partitions }: QueueWorld): Promise<unknown> {
  const { jobs } = await queue.jobs.search({ limit: 1000 })
  const contents = byId(jobs).map(async (job) => {
    const { id } = job
    const dependencies = partitions === null ? await queue.jobs.dependencies(id) : null
    return [shownJob(job), await queue.jobs.history(id), dependencies]
  })
  const { total } = await queue.stats()
  return [shown(await queue.inspect()), await Promise.all(contents), total, await queue.names()]
}

async function enqueue(world: QueueWorld): Promise<void> {
  const { sides, url, query, queue, ids } = world
  const drawn = Array.from({ length: 1 + sides.dice.upTo(2) }, () => drawJob(world))
  const here = drawn.map((job) => job.here)
  const there = drawn.map((job) => job.there)
  const pair = await sides.same(
    `enqueue ${JSON.stringify(there).slice(0, 400)}`,
    async () => {
      const enqueued = await queue.enqueueMany(here)
      return { jobs: enqueued, isNew: !enqueued.every(({ duplicate }) => duplicate) }
    },
    async () => {
      const body = there.length === 1 ? there[0] : { jobs: there }
      const { status, json } = await sides.http.sent('POST', `${url}/jobs`, query, body)
      return { jobs: json.jobs as { id: string }[], isNew: status === 201 }
    },
  )
  for (const [at, { id }] of (pair?.here.jobs ?? []).entries()) {
    ids.push({ here: id, there: pair?.there.jobs[at]?.id ?? '' })
  }
}

async function enqueueWrongly({ sides, url, query, queue }: QueueWorld): Promise<void> {
  const wrong = sides.dice.oneOf([
    { id: '17' },
    { delay: '-1s' },
    { priority: 1.5 },
    { priority: 2_000_000 },
    { maxAttempts: 0 },
    { maxAttempts: -3 },
    { backoff: 'slow' },
    { backoff: { kind: 'fixed', base: '1s', jitter: 2 } },
    { unique: { key: '' } },
    { tags: [''] },
    { tags: Array.from({ length: 21 }, (_, at) => `t${at}`) },
    { resultTtl: '31d' },
    { onDependencyFailure: 'wait' },
    { dependsOn: [''] },
    { name: '' },
    { ttl: 5 },
  ])
  const jobs = [
    { name: 'mail', payload: 1, id: 'a' },
    { name: 'mail', payload: 2, id: 'b', ...wrong },
  ]
  await sides.same(
    `enqueue with ${JSON.stringify(wrong).slice(0, 60)}`,
    () => queue.enqueueMany(jobs as never),
    () => sides.http.post(`${url}/jobs`, { jobs }, query),
  )
}

interface ClaimAnswer {
  readonly leaseMs: number
  readonly expiresAtMs: number
  readonly jobs: readonly DetachedJob[]
}

/** In partitions all that is ready: by turns that begin anywhere, one of them is asked first. */
async function claim(world: QueueWorld): Promise<void> {
  const { sides, url, query, queue } = world
  const terms = { limit: drawLimit(world), lease: LEASE } as const
  let claimed: ClaimedJob[] = []
  const pair = await sides.same(
    `claim ${terms.limit}`,
    async () => {
      claimed = byId(await queue.claim(terms))
      return claimed.length === 0 ? null : answerOf(claimed)
    },
    async () => sorted(await sides.http.post(`${url}/claims`, terms, query)),
  )
  if (pair !== null && pair.there !== null) hold(world, claimed, pair.there)
}

function drawLimit({ sides: { dice }, partitions }: QueueWorld): number {
  return partitions === null ? 1 + dice.upTo(3) : 200
}

function hold(world: QueueWorld, claimed: readonly ClaimedJob[], { jobs }: ClaimAnswer): void {
  world.held.push(...claimed.map((here, at) => ({ here, there: tokenOf(jobs[at] as Token) })))
}

function answerOf(claimed: readonly ClaimedJob[]): ClaimAnswer {
  const [first] = claimed
  const jobs = claimed.map((job) => {
    const { id, token, name, attempt, maxAttempts, priority, group, tags, trace, maxRunMs, enqueuedAtMs } =
      job
    const shownOf = {
      id,
      token,
      name,
      attempt,
      maxAttempts,
      priority,
      group,
      tags,
      trace,
      maxRunMs,
      enqueuedAtMs,
    }
    return { ...shownOf, payload: job.payload }
  })
  return { leaseMs: 3_600_000, expiresAtMs: first?.expiresAtMs ?? 0, jobs }
}

function sorted(claims: ClaimAnswer | null): ClaimAnswer | null {
  return claims === null ? null : { ...claims, jobs: byId(claims.jobs) }
}

/** Acks of earlier jobs and the next claim, in one call. */
async function claimAndAck(world: QueueWorld): Promise<void> {
  const { sides, url, query, queue } = world
  const acked = [takeHeld(world), takeHeld(world)].filter((one): one is Held => one !== null)
  if (acked.length === 0) return
  const terms = { limit: drawLimit(world), lease: LEASE } as const
  let claimed: ClaimedJob[] = []
  const pair = await sides.same(
    `claim ${terms.limit}, and ack ${acked.length}`,
    async () => {
      const acks = acked.map(({ here }) => here)
      claimed = byId(await queue.claim({ ...terms, acks }))
      const outcomes = acks.map(({ id, token, outcome }) => ({ id, token, outcome: outcome ?? 'lost' }))
      return claimed.length === 0 ? { jobs: [], acked: outcomes } : { ...answerOf(claimed), acked: outcomes }
    },
    async () => {
      const acks = acked.map(({ there }) => there)
      const answer = await sides.http.post(`${url}/claims`, { ...terms, acks }, query)
      // The handles do not say why.
      const all = answer.acked.map(({ reason: _reason, ...rest }: { reason?: string }) => rest)
      return { ...answer, jobs: byId(answer.jobs as DetachedJob[]), acked: all }
    },
  )
  if (pair !== null && claimed.length > 0) hold(world, claimed, pair.there as ClaimAnswer)
}

async function claimWrongly({ sides, url, query, queue }: QueueWorld): Promise<void> {
  const terms = sides.dice.oneOf([
    { limit: -1 },
    { limit: 0 },
    { limit: 201 },
    { lease: '0s' },
    { lease: 'soon' },
    { lease: 5 },
  ])
  await sides.same(
    `claim ${JSON.stringify(terms)}`,
    async () => answerOf(await queue.claim(terms as object)),
    () => sides.http.post(`${url}/claims`, terms, query),
  )
}

function shown(picture: object): object {
  const { codec: _codec, nowMs: _nowMs, partitions, ...counts } = picture as Record<string, unknown>
  return Array.isArray(partitions)
    ? { ...counts, partitions: partitions.map((each) => shown(each as object)) }
    : counts
}

async function inspect({ sides, url, query, queue }: QueueWorld): Promise<void> {
  await sides.same(
    'inspect',
    async () => {
      const picture = await queue.inspect()
      done(picture.beganAtMs !== null)
      return { name: sides.name, ...shown(picture) }
    },
    () => sides.http.get(url, query),
  )
}

interface Listed {
  readonly name: string
}

/** The library knows no list of queues: here it is made of what it knows of this one. */
async function list({ sides, queue, partitions }: QueueWorld): Promise<void> {
  await sides.same(
    'list queues',
    async () => {
      const {
        paused,
        idle,
        ready,
        scheduled,
        blocked,
        claimed,
        dead,
        done: kept,
        oldestAtMs,
        beganAtMs,
      } = await queue.inspect()
      if (beganAtMs === null) throw new Refused('not-found')
      const counts = { paused, idle, ready, scheduled, blocked, claimed, dead, done: kept, oldestAtMs }
      return { name: sides.name, partitions, ...counts }
    },
    async () => {
      const queues: Listed[] = []
      for (let after: string | undefined; ; ) {
        const page = (await sides.http.get('/queues', { limit: 100, after })) as {
          queues: Listed[]
          next: string | null
        }
        queues.push(...page.queues)
        if (page.next === null) break
        after = page.next
      }
      const own = queues.find(({ name }) => name === sides.name)
      if (own === undefined) throw new Refused('not-found')
      return own
    },
  )
}

async function clear(world: QueueWorld): Promise<void> {
  const { sides, url, query, queue, held } = world
  if (!sides.dice.chance(0.2)) return
  await sides.same(
    'clear',
    async () => void (await queue.clear()),
    () => sides.http.delete(url, query),
  )
  if (sides.dice.chance(0.5)) leave(world, held)
}
