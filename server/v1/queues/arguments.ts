// The arguments of requests for queues.

import {
  type TArray,
  type TInteger,
  type TObject,
  type TOptional,
  type TString,
  type TUnknown,
  type TUnsafe,
  Type,
} from '@fastify/type-provider-typebox'
import type { OnDependencyFailure, JobOptions, DependencyId } from 'perilune'
import type { Routes } from '../api/routes.ts'
import { duration, strict, wait } from '../api/arguments.ts'

export const text = (description: string): TOptional<TString> => Type.Optional(Type.String({ description }))

export const id: TString = Type.String({
  minLength: 1,
  description: 'The own id of a job, or the one the queue gave it.',
})

export const token: TInteger = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'That of the claim.',
})

/** What every request for a queue may say of it. */
export const spread: { partitions: TOptional<TInteger> } = {
  partitions: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 64,
      description:
        'Of a queue in partitions: how many there are. The same in all requests for it; default: it has none.',
    }),
  ),
}
export const QueueQuery: TObject<typeof spread> = Type.Object(spread, strict)
export const QueueWaitQuery: TObject<{ wait: typeof wait } & typeof spread> = Type.Object(
  { wait, ...spread },
  strict,
)

/** Routes whose requests may say of a queue that it is in partitions. */
export type QueueRoutes = Routes<typeof QueueQuery>

/** What stands in the paths of jobs. */
export const path: Readonly<Record<'id' | 'tag', TString>> = {
  id,
  tag: Type.String({ minLength: 1, description: 'The tag.' }),
}

/** Where the library looks at the members. */
export const DURATION = { type: 'string', examples: ['30s'] } as const

export const priority: TInteger = Type.Integer({
  minimum: -1_000_000,
  maximum: 1_000_000,
  description: 'Jobs with a greater one come first; 0 where nothing is said.',
})

export const backoff: TOptional<TUnsafe<NonNullable<JobOptions['backoff']>>> = Type.Optional(
  Type.Unsafe<NonNullable<JobOptions['backoff']>>({
    type: ['object', 'string'],
    properties: {
      kind: { type: 'string', enum: ['fixed', 'linear', 'exponential'] },
      base: DURATION,
      max: DURATION,
      jitter: { type: 'number', minimum: 0, maximum: 1 },
    },
    required: ['kind', 'base'],
    additionalProperties: false,
    description: '`none`, or how long the job waits before its next attempt; default exponential, 1s to 1h.',
  }),
)

/** What can be said of a job, whoever enqueues it. */
export const jobOptions: {
  priority: TOptional<TInteger>
  maxAttempts: TOptional<TInteger>
  backoff: typeof backoff
  maxRun: ReturnType<typeof duration>
  group: TOptional<TString>
  tags: TOptional<TArray<TString>>
  trace: TOptional<TString>
} = {
  priority: Type.Optional(priority),
  maxAttempts: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 65_535,
      description: 'After so many a job that fails is dead; default 3.',
    }),
  ),
  backoff,
  maxRun: duration('How long an attempt may take; told to whoever claims the job.'),
  group: text('Jobs of different groups are served in turn.'),
  tags: Type.Optional(Type.Array(Type.String(), { maxItems: 20, description: 'To search for.' })),
  trace: text('Of the trace that the job belongs to, such as a `traceparent`.'),
}

export const unique: TOptional<TUnsafe<NonNullable<JobOptions['unique']>>> = Type.Optional(
  Type.Unsafe<NonNullable<JobOptions['unique']>>({
    type: ['object', 'string'],
    properties: {
      key: { type: 'string' },
      until: { type: 'string', enum: ['started', 'done'] },
      for: DURATION,
      replace: { type: 'boolean' },
    },
    required: ['key'],
    additionalProperties: false,
    description: 'A key that holds off other jobs with the same one, or more about it.',
  }),
)

export const delay: ReturnType<typeof duration> = duration(
  "How long until the next attempt; default: by the job's backoff.",
)
export const releaseDelay: ReturnType<typeof duration> = duration(
  'How long until others may begin; default: they may at once.',
)
export const kind: TOptional<TString> = text('What failed: dead jobs of one kind are kept together.')
export const message: TOptional<TString> = text('More about it, for people.')

/** One attempt at one job, where a body names several. */
export const held: { id: TString; token: TInteger } = {
  id,
  token: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'That of the claim.' }),
}
export const result: TOptional<TUnknown> = Type.Optional(Type.Unknown({ description: 'Any JSON.' }))

type DependencyIds = TUnsafe<readonly DependencyId[]>

export const dependencyIds = (minItems: number): DependencyIds =>
  Type.Unsafe<readonly DependencyId[]>({
    type: 'array',
    items: {
      type: ['object', 'string'],
      properties: { queue: { type: 'string' }, id: { type: 'string' } },
      required: ['queue', 'id'],
      additionalProperties: false,
    },
    minItems,
    maxItems: 100,
    description: 'Ids of jobs of the same queue, or `{ queue, id }`.',
  })

export const newJob: typeof jobOptions & {
  name: TString
  payload: TUnknown
  id: TOptional<TString>
  delay: ReturnType<typeof duration>
  unique: typeof unique
  dependsOn: TOptional<DependencyIds>
  onDependencyFailure: TOptional<TUnsafe<OnDependencyFailure>>
  idempotencyKey: TOptional<TString>
  resultTtl: ReturnType<typeof duration>
} = {
  name: Type.String({ description: 'What kind of job it is.' }),
  payload: Type.Unknown({ description: 'Any JSON; stored to the letter.' }),
  id: text('What to call the job; not digits alone. One that is still known is not enqueued again.'),
  delay: duration('How long until the job is ready; default: it is at once.'),
  ...jobOptions,
  unique,
  dependsOn: Type.Optional(dependencyIds(0)),
  onDependencyFailure: Type.Optional(
    Type.Unsafe<OnDependencyFailure>({
      type: 'string',
      enum: ['fail', 'cancel', 'run'],
      description: 'What becomes of it if a dependency dies or is cancelled; default `fail`.',
    }),
  ),
  resultTtl: duration('How long its result may still be asked for, up to 30d; default: not at all.'),
  idempotencyKey: text(
    'A job with the same key within 24 hours is a duplicate, whatever became of the first.',
  ),
}
