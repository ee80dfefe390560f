// What the answers of queues look like.

import { type TProperties, type TSchema, Type } from '@fastify/type-provider-typebox'
import {
  type Answers,
  Count,
  Instant,
  json,
  Name,
  nothing,
  object,
  orNull,
  problem,
  Span,
  Token,
} from '../api/answers.ts'
import { undecoded } from '../api/undecoded.ts'

const text = (description: string): TSchema => Type.String({ description })
const Id = text('The own id of the job, or the one the queue gave it.')
const Kind = text('What failed.')
const AnyJson = Type.Unknown({ description: 'Any JSON, to the letter as it was sent.' })
const Undecodable = Type.Array(
  object({ part: Type.String({ enum: ['payload', 'result', 'progress'] }), ...undecoded }),
  { description: 'What is stored of it and is no JSON; null in its place.' },
)
const named = {
  name: Name,
  priority: Type.Integer(),
  group: text('Empty: none.'),
  tags: Type.Array(Type.String()),
  trace: text('Empty: none.'),
  maxAttempts: Count,
  enqueuedAtMs: Instant,
  payload: AnyJson,
}
const DetachedJob = object({
  id: Id,
  token: Token,
  ...named,
  attempt: Type.Integer({ minimum: 1, description: 'Which one this is.' }),
  maxRunMs: Type.Integer({ minimum: 0, description: 'How long it may take; 0: no bound.' }),
})
const JobProperties = {
  id: Id,
  ...named,
  state: Type.String({ enum: ['ready', 'scheduled', 'blocked', 'claimed', 'stopping', 'dead', 'done'] }),
  attempts: Count,
  token: orNull(Token),
  atMs: Type.Integer({
    description: 'Since when it is ready or claimed, until when it is scheduled, or when it ended.',
  }),
  failure: orNull(object({ atMs: Instant, kind: Kind, message: Type.String() })),
  bytes: Count,
  result: AnyJson,
  progress: AnyJson,
  isTracked: Type.Boolean(),
  undecodable: Undecodable,
}
const Job = object(JobProperties)
const FoundJob = object({
  ...JobProperties,
  log: Type.Array(object({ atMs: Instant, line: Type.String() })),
})
const HistoryEntry = object({
  what: Type.String(),
  atMs: Instant,
  attempt: orNull(Count),
  token: orNull(Token),
  kind: text('Of the failure; empty: none.'),
})
const NextPage = orNull(text('Where the next page begins; null at the end.'))
const Page = object({
  jobs: Type.Array(Job),
  next: NextPage,
})
const throttle = {
  paused: Type.Boolean(),
  concurrency: Type.Integer({ minimum: 0, description: '0: any number.' }),
  rateLimit: Type.Integer({ minimum: 0, description: '0: any number.' }),
  rateWindowMs: Span,
  rateBurst: Type.Integer({ minimum: 0, description: '0: as many as `rateLimit`.' }),
}
const counts = (...names: string[]): TProperties => Object.fromEntries(names.map((name) => [name, Count]))
const inspected = {
  ...throttle,
  beganAtMs: orNull(Instant),
  retentionCount: Count,
  retentionMs: Span,
  ...counts(
    'ready',
    'scheduled',
    'blocked',
    'claimed',
    'dead',
    'done',
    'overdue',
    'groups',
    'idle',
    'outbox',
  ),
  ...counts('enqueued', 'acked', 'retried', 'failed', 'reclaimed', 'cancelled'),
  ...counts('readyBytes', 'scheduledBytes', 'blockedBytes', 'claimedBytes', 'deadBytes', 'doneBytes'),
  oldestAtMs: orNull(Instant),
}
const Inspection = object({
  name: Name,
  ...inspected,
  partitions: Type.Optional(
    Type.Array(object(inspected), { description: 'Of a queue in partitions: a picture of each.' }),
  ),
})
const Group = object({ ...throttle, ready: Count, claimed: Count })
const Failure = object({
  kind: Kind,
  count: Count,
  firstAtMs: Instant,
  lastAtMs: Instant,
  sample: object({ id: Id, message: Type.String() }),
})
const Rule = Type.Union([
  object({ kind: Type.Literal('interval'), everyMs: Span, offsetMs: Span, missed: Count }),
  object({ kind: Type.Literal('cron'), cron: Type.String(), timeZone: Type.String(), missed: Count }),
])
const NextRun = orNull(
  Type.Integer({
    description: 'Its next run, in Unix milliseconds; null: there is none, or none is known yet.',
  }),
)
const RecurringId = text('What its user calls the recurring job.')
const RecurringJob = object({
  id: RecurringId,
  name: Name,
  rule: Rule,
  nextAtMs: NextRun,
  lastAtMs: orNull(Instant),
  lastJobId: orNull(text('The id of the job that was spawned last.')),
  runs: Type.Integer({ minimum: 0, description: 'How many jobs it has spawned.' }),
  limit: orNull(Count),
  untilMs: orNull(Instant),
  priority: Type.Integer(),
  maxAttempts: Count,
  maxRunMs: Span,
  group: text('Empty: none.'),
  unique: text('Empty: none.'),
  tags: Type.Array(Type.String()),
  trace: text('Empty: none.'),
  payload: AnyJson,
  undecodable: Undecodable,
})
const Dependency = object({
  queue: orNull(text('Null: the queue of the job itself.')),
  id: Id,
  state: Type.String({
    enum: ['pending', 'done', 'dead', 'cancelled', 'absent'],
    description: '`absent`: not known (any more), and taken for done.',
  }),
  failure: orNull(object({ kind: Kind, message: Type.String() })),
  result: AnyJson,
  undecodable: Undecodable,
})
const Next = object({
  id: orNull(text('What to call the new job; null where another queue will give it its id.')),
  duplicate: Type.Boolean(),
})
const Outcome = (...words: string[]): TSchema => Type.String({ enum: words })

const Lost = object({ id: Id, token: Token, outcome: Outcome('lost'), reason: Type.String() })

/** One of several jobs, and what became of it. */
function oneOfSeveral(...words: string[]): TSchema {
  return Type.Union([object({ id: Id, token: Token, outcome: Outcome(...words) }), Lost])
}
const Followed = object({ id: Id, token: Token, outcome: Outcome('acked'), next: Next })

export const enqueued: Answers = {
  200: json(
    'Each was known before, or its unique key was held.',
    listOf({ id: Id, duplicate: Type.Boolean() }),
  ),
  201: json('Enqueued, in this order.', listOf({ id: Id, duplicate: Type.Boolean() })),
}
const Acked = Type.Array(oneOfSeveral('acked'), { description: 'What became of each of `acks`.' })
export const claimed: Answers = {
  200: json('There is none; the acks are told.', object({ jobs: Type.Array(DetachedJob), acked: Acked })),
  201: json(
    'Claimed.',
    object({
      leaseMs: Span,
      expiresAtMs: Instant,
      jobs: Type.Array(DetachedJob),
      acked: Type.Optional(Acked),
    }),
  ),
  204: nothing('There is none, and nothing was to be acked.'),
}

const lost = { 410: problem('The job is lost; `reason` says why.') }
export const acked: Answers = { 204: nothing('Done.'), ...lost }
export const dead: Answers = { 204: nothing('Dead, until somebody requeues it.'), ...lost }
export const released: Answers = { 204: nothing('Given to others.'), ...lost }
export const retried: Answers = {
  200: json(
    'To be tried again, or `dead`: that was its last attempt.',
    object({ id: Id, token: Token, outcome: Outcome('retried', 'dead') }),
  ),
  ...lost,
}
export const ackedAndEnqueued: Answers = {
  200: json('Done, and the next job is enqueued.', object({ id: Id, token: Token, next: Next })),
  ...lost,
}
export const allAckedAndEnqueued: Answers = {
  200: json('What became of each.', object({ jobs: Type.Array(Type.Union([Followed, Lost])) })),
}
export const extended: Answers = {
  200: json('Extended.', object({ id: Id, token: Token, leaseMs: Span, expiresAtMs: Instant })),
  ...lost,
}
export const settled = (...words: string[]): Answers => ({
  200: json('What became of each.', object({ jobs: Type.Array(oneOfSeveral(...words)) })),
})
export const allExtended: Answers = {
  200: json(
    'What became of each.',
    object({ leaseMs: Span, expiresAtMs: Instant, jobs: Type.Array(oneOfSeveral('extended')) }),
  ),
}

export const job: Answers = { 200: json('The job.', FoundJob) }
export const foundJobs: Answers = {
  200: json('The jobs.', object({ jobs: Type.Array(FoundJob), left: Type.Array(Id) })),
}
export const page: Answers = { 200: json('A page.', Page) }
export const outcome = (...words: string[]): Answers => ({
  200: json('What became of it.', object({ id: Id, outcome: Outcome(...words) })),
})
export const outcomes = (...words: string[]): Answers => ({
  200: json('What became of each.', listOf({ id: Id, outcome: Outcome(...words, 'absent') })),
})

export const dependencies: Answers = {
  200: json(
    'The jobs that it waits for, or waited for.',
    object({ dependencies: Type.Array(Dependency), next: NextPage }),
  ),
}

export const recurring: Answers = { 200: json('The recurring job.', RecurringJob) }
export const recurringSet: Answers = {
  200: json('Set, for all who use the queue.', object({ id: RecurringId, nextAtMs: NextRun })),
}
export const recurringRemoved: Answers = { 204: nothing('Removed, or was not there.') }
export const recurringPage: Answers = {
  200: json(
    'A page.',
    object({
      recurring: Type.Array(RecurringJob),
      next: orNull(text('Where the next page begins; null at the end.')),
    }),
  ),
}
export const history: Answers = {
  200: json(
    'The oldest first; so many are omitted behind the first that was noted.',
    object({ id: Id, entries: Type.Array(HistoryEntry), omitted: Count }),
  ),
}
export const noted: Answers = { 204: nothing('Noted.') }
export const notedByAttempt: Answers = { ...noted, ...lost }
export const end: Answers = {
  200: json(
    'How it ended.',
    object({
      id: Id,
      state: Type.String({ enum: ['done', 'dead', 'cancelled'] }),
      failure: orNull(object({ kind: Kind, message: Type.String() })),
      result: AnyJson,
      undecodable: Undecodable,
    }),
  ),
  204: nothing('It has not ended yet.'),
}
export const tagsOfJob: Answers = {
  200: json('Its tags, as they are now.', object({ id: Id, tags: Type.Array(Type.String()) })),
}
export const tagCounts: Answers = {
  200: json('Tags.', object({ tags: Type.Array(object({ tag: Type.String(), count: Count })) })),
}
export const tracked: Answers = { 204: nothing('Done.') }
export const eventsOfQueue: Answers = {
  200: json('Events, by their kinds.', Type.String(), 'text/event-stream'),
}

export const deadKinds: Answers = {
  200: json('What jobs are dead of.', object({ kinds: Type.Array(Failure) })),
}
export const counted: Answers = { 200: json('How many it were.', object({ count: Count })) }

const spread = (): TSchema => {
  const Ms = Type.Number({ minimum: 0, description: 'Milliseconds.' })
  return object({ count: Count, meanMs: Ms, p50Ms: Ms, p90Ms: Ms, p99Ms: Ms, maxMs: Ms })
}
const happened = {
  ...counts('enqueued', 'acked', 'retried', 'failed', 'reclaimed', 'cancelled'),
  wait: spread(),
  run: spread(),
}
export const stats: Answers = {
  200: json(
    'What happened.',
    object({
      periods: Type.Array(object({ atMs: Instant, ...happened })),
      total: object(happened),
      names: Type.Array(Name),
    }),
  ),
}

export const inspection: Answers = { 200: json('The queue at one instant.', Inspection) }
export const allQueues: Answers = {
  200: json(
    'A page.',
    object({
      queues: Type.Array(
        object({
          name: Name,
          partitions: orNull(Type.Integer({ minimum: 1, description: 'Null: it is not spread.' })),
          paused: Type.Boolean(),
          ...counts('idle', 'ready', 'scheduled', 'blocked', 'claimed', 'dead', 'done'),
          oldestAtMs: orNull(Instant),
        }),
      ),
      next: orNull(text('Where the next page begins; null at the end.')),
    }),
  ),
}
export const group: Answers = { 200: json('The group, as it is now.', Group) }
export const set: Answers = { 204: nothing('Set, for all who use it.') }
export const cleared: Answers = { 204: nothing('There is no such queue any more.') }

function listOf(properties: TProperties): TSchema {
  return object({ jobs: Type.Array(object(properties)) })
}
