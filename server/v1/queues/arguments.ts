// The arguments of requests for queues.

import {
  type TInteger,
  type TObject,
  type TOptional,
  type TString,
  type TUnsafe,
  Type,
} from '@fastify/type-provider-typebox'
import type { JobOptions } from 'perilune'
import { duration, leaseToken, name } from '../arguments.ts'

export const text = (description: string): TOptional<TString> => Type.Optional(Type.String({ description }))

export const id: TString = Type.String({
  minLength: 1,
  description: 'The own id of a job, or the one the queue gave it.',
})

export const JobPath: TObject<{ name: TString; id: TString }> = Type.Object({ name, id })
export const AttemptPath: TObject<{ name: TString; id: TString; token: TString }> = Type.Object({
  name,
  id,
  token: leaseToken,
})

export const TagPath: TObject<{ name: TString; id: TString; tag: TString }> = Type.Object({
  name,
  id,
  tag: Type.String({ minLength: 1, description: 'The tag.' }),
})

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
export const kind: TOptional<TString> = text('What failed: dead jobs of one kind are kept together.')
export const message: TOptional<TString> = text('More about it, for people.')
