import { Type } from '@fastify/type-provider-typebox'
import type { App } from '../fastify.ts'
import { answers, BODY } from '../v1/answers.ts'
import { duration } from '../v1/arguments.ts'
import { NamePath, NoQuery, strict } from '../v1/coordination/arguments.ts'
import type { Parts } from '../v1/coordination/lending.ts'
import { enqueued } from '../v1/queues/answers.ts'
import { backoff, priority, text, unique } from '../v1/queues/arguments.ts'
import type { Open } from '../v1/queues/open.ts'
import { newJobs } from '../v1/queues/to-the-letter.ts'

const NewJob = Type.Object(
  {
    name: Type.String({ description: 'What kind of job it is.' }),
    payload: Type.Unknown({ description: 'Any JSON; stored to the letter.' }),
    id: text('What to call the job; not digits alone. One that is still known is not enqueued again.'),
    delay: duration('How long until the job is ready; default: it is at once.'),
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
    unique,
    tags: Type.Optional(Type.Array(Type.String(), { maxItems: 20, description: 'To search for.' })),
    trace: text('Of the trace that the job belongs to, such as a `traceparent`.'),
    keepResult: duration('How long its result may still be asked for, up to 30d; default: not at all.'),
  },
  strict,
)
const Body = Type.Union([
  Type.Object({ jobs: Type.Array(NewJob, { minItems: 1, maxItems: 1000 }) }, strict),
  NewJob,
])

export function enqueueJobs(app: App, { limits }: Parts, open: Open): void {
  const schema = {
    tags: ['queues'],
    summary: 'Enqueue',
    description: 'All or nothing. A job with an id of its own may be enqueued again: it is a duplicate then.',
    params: NamePath,
    querystring: NoQuery,
    body: Body,
    response: answers(enqueued, ...BODY),
  }
  const options = { schema, bodyLimit: limits.maxAppendBytes }
  app.post('/queues/:name/jobs', options, async (request, reply) => {
    const results = await open(request).enqueueMany(newJobs(request.body, request.jsonText))
    const jobs = results.map(({ id, duplicate }) => ({ id, duplicate }))
    return reply.code(jobs.every(({ duplicate }) => duplicate) ? 200 : 201).send({ jobs })
  })
}
