// A job as whoever enqueues it describes it.

import {
  type TOptional,
  type TString,
  type TUnknown,
  type TUnsafe,
  Type,
} from '@fastify/type-provider-typebox'
import type { IfParentFails, ParentId } from 'perilune'
import { duration } from '../api/arguments.ts'
import { jobOptions, text, unique } from './arguments.ts'

type ParentIds = TUnsafe<readonly ParentId[]>

export const parentIds = (minItems: number): ParentIds =>
  Type.Unsafe<readonly ParentId[]>({
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
  parents: TOptional<ParentIds>
  ifParentFails: TOptional<TUnsafe<IfParentFails>>
  idempotencyKey: TOptional<TString>
  keepResult: ReturnType<typeof duration>
} = {
  name: Type.String({ description: 'What kind of job it is.' }),
  payload: Type.Unknown({ description: 'Any JSON; stored to the letter.' }),
  id: text('What to call the job; not digits alone. One that is still known is not enqueued again.'),
  delay: duration('How long until the job is ready; default: it is at once.'),
  ...jobOptions,
  unique,
  parents: Type.Optional(parentIds(0)),
  ifParentFails: Type.Optional(
    Type.Unsafe<IfParentFails>({
      type: 'string',
      enum: ['bury', 'cancel', 'run'],
      description: 'What becomes of it if a parent dies or is cancelled; default `bury`.',
    }),
  ),
  keepResult: duration('How long its result may still be asked for, up to 30d; default: not at all.'),
  idempotencyKey: text(
    'A job with the same key within 24 hours is a duplicate, whatever became of the first.',
  ),
}
